import fc from "fast-check";

/** One event in the history of a limiter. Indexes are taken modulo the number of elements. */
export type Step =
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "setBack"; readonly ms: number }
  | { readonly do: "admit"; readonly key: number; readonly replica: number; readonly tokens: number }
  /** Several concurrent requests of one key, over the replicas in turn. */
  | { readonly do: "burst"; readonly key: number; readonly tokens: number; readonly count: number }
  | { readonly do: "settle"; readonly index: number; readonly tokens: number }
  | { readonly do: "cancel"; readonly index: number }
  | { readonly do: "kill"; readonly replica: number };

/** Two keys of one account and one of another. */
export const KEYS = [
  { key: "a1", account: "a" },
  { key: "a2", account: "a" },
  { key: "b1", account: "b" },
] as const;

export const limits = fc.record({
  requestsPerMinute: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined }),
  tokensPerMinute: fc.option(fc.integer({ min: 0, max: 400 }), { nil: undefined }),
  concurrentRequests: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
});

/** Limits that admit a caller that waits. */
export const rates = fc.record({
  requestsPerMinute: fc.integer({ min: 1, max: 6 }),
  tokensPerMinute: fc.integer({ min: 120, max: 400 }),
});

const key = fc.nat({ max: KEYS.length - 1 });
const replica = fc.nat({ max: 2 });
const tokens = fc.nat({ max: 120 });
const waitMs = fc.oneof(
  fc.integer({ min: 1, max: 1500 }),
  fc.constantFrom(1, 999, 1000, 1001, 9999, 10_000, 29_999, 30_000, 59_000, 59_999, 60_000, 60_001, 61_000),
  fc.integer({ min: 1, max: 20_000 }),
  fc.integer({ min: 1, max: 120_000 }),
);

const wait = fc.record({ do: fc.constant("wait" as const), ms: waitMs });
const setBack = fc.record({
  do: fc.constant("setBack" as const),
  ms: fc.oneof(fc.integer({ min: 1, max: 2500 }), fc.integer({ min: 1, max: 500_000 })),
});
export const admit = fc.record({ do: fc.constant("admit" as const), key, replica, tokens });
const burst = fc.record({
  do: fc.constant("burst" as const),
  key,
  tokens,
  count: fc.integer({ min: 2, max: 12 }),
});
const settle = fc.record({
  do: fc.constant("settle" as const),
  index: fc.nat(),
  tokens: fc.nat({ max: 200 }),
});
const cancel = fc.record({ do: fc.constant("cancel" as const), index: fc.nat() });
const kill = fc.record({ do: fc.constant("kill" as const), replica });

const ordinary = [
  { weight: 24, arbitrary: admit },
  { weight: 3, arbitrary: burst },
  { weight: 12, arbitrary: wait },
  { weight: 9, arbitrary: settle },
  { weight: 3, arbitrary: cancel },
];

function historyOf(...steps: { weight: number; arbitrary: fc.Arbitrary<Step> }[]): fc.Arbitrary<Step[]> {
  return fc.array(fc.oneof(...steps), { minLength: 20, maxLength: 120 });
}

/** Ordinary events, with an occasional death of a replica. */
export const histories = historyOf(...ordinary, { weight: 2, arbitrary: kill });

/** Ordinary events, with a clock that is set back. */
export const historiesWithClockSteps = historyOf(...ordinary, { weight: 3, arbitrary: setBack });
