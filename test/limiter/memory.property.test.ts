import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Admission, AdmissionRequest, Limits } from "../../src/limiter/limiter.ts";
import { createMemoryLimiter } from "../../src/limiter/memory.ts";
import { createManualClock } from "./clock.ts";

interface Entry {
  readonly keyId: string;
  readonly accountId: string;
  readonly atMs: number;
  tokens: number;
  admission: Admission;
  isRunning: boolean;
}

/** What was let in, one entry each, and nothing cleverer: the truth the limiter is held against. */
interface Log {
  readonly entries: Entry[];
  /** Time that really passed, whatever the clock says. */
  elapsedMs: number;
}

type Step =
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "setBack"; readonly ms: number }
  | { readonly do: "admit"; readonly key: number; readonly tokens: number }
  | { readonly do: "settle"; readonly index: number; readonly tokens: number }
  | { readonly do: "cancel"; readonly index: number };

const KEYS = [
  { keyId: "a1", accountId: "a" },
  { keyId: "a2", accountId: "a" },
  { keyId: "b1", accountId: "b" },
] as const;

const limits = fc.record({
  requestsPerMinute: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined }),
  tokensPerMinute: fc.option(fc.integer({ min: 0, max: 400 }), { nil: undefined }),
  concurrentRequests: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
});

const waits = fc.oneof(
  fc.integer({ min: 0, max: 1500 }),
  fc.constantFrom(1, 999, 1000, 1001, 59_000, 59_999, 60_000, 60_001, 61_000),
  fc.integer({ min: 0, max: 130_000 }),
);

const admitStep = fc.record({
  do: fc.constant("admit" as const),
  key: fc.nat({ max: KEYS.length - 1 }),
  tokens: fc.nat({ max: 120 }),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: admitStep },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: waits }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("setBack" as const), ms: fc.nat({ max: 500_000 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("settle" as const),
      index: fc.nat(),
      tokens: fc.nat({ max: 200 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), index: fc.nat() }) },
);

const steps = fc.array(step, { minLength: 30, maxLength: 200 });

interface Counted {
  readonly requests: number;
  readonly tokens: number;
}

function countedIn(log: Log, member: Partial<Entry>, windowMs: number): Counted {
  const inside = log.entries.filter((entry) => isOf(entry, member) && entry.atMs > log.elapsedMs - windowMs);
  return { requests: inside.length, tokens: inside.reduce((sum, entry) => sum + entry.tokens, 0) };
}

function runningOf(log: Log, member: Partial<Entry>): number {
  return log.entries.filter((entry) => entry.isRunning && isOf(entry, member)).length;
}

function isOf(entry: Entry, { keyId, accountId }: Partial<Entry>): boolean {
  return (
    (keyId === undefined || entry.keyId === keyId) &&
    (accountId === undefined || entry.accountId === accountId)
  );
}

function fits(counted: Counted, tokens: number, bound: Limits): boolean {
  const { requestsPerMinute = Number.POSITIVE_INFINITY, tokensPerMinute = Number.POSITIVE_INFINITY } = bound;
  if (requestsPerMinute === 0 || tokensPerMinute === 0) return false;
  return counted.requests + 1 <= requestsPerMinute && counted.tokens + tokens <= tokensPerMinute;
}

function setUp(keyLimits: Limits, accountLimits: Limits) {
  const clock = createManualClock();
  const limiter = createMemoryLimiter({ now: clock.now });
  const log: Log = { entries: [], elapsedMs: 0 };
  const requestOf = (key: number, tokens: number): AdmissionRequest => {
    const { keyId, accountId } = KEYS[key] ?? KEYS[0];
    return { keyId, accountId, keyLimits, accountLimits, tokens };
  };
  const usages = () => Promise.all(KEYS.map((_, key) => limiter.usage(requestOf(key, 0))));

  async function admit(key: number, tokens: number): Promise<void> {
    const request = requestOf(key, tokens);
    const { keyId, accountId } = request;
    const before = await usages();
    const sides = [
      [{ keyId }, keyLimits],
      [{ accountId }, accountLimits],
    ] as const;
    const isFull = sides.some(
      ([member, bound]) => runningOf(log, member) >= (bound.concurrentRequests ?? Number.POSITIVE_INFINITY),
    );
    const mayPass = sides.every(([member, bound]) => fits(countedIn(log, member, 60_000), tokens, bound));
    const mustPass = sides.every(([member, bound]) => fits(countedIn(log, member, 61_000), tokens, bound));

    const decision = await limiter.admit(request);
    if (decision.admitted) {
      expect([mayPass, isFull]).toEqual([true, false]);
      log.entries.push({
        keyId,
        accountId,
        atMs: log.elapsedMs,
        tokens,
        admission: decision,
        isRunning: true,
      });
      return;
    }
    expect(await usages()).toEqual(before);
    if (decision.bound === "rate") expect(mustPass).toBe(false);
    else expect([mayPass, isFull]).toEqual([true, true]);
    expect(decision.retryAfterS).toBeWithin(1, 61);
  }

  function end(index: number, tokens: number | undefined): void {
    const running = log.entries.filter((entry) => entry.isRunning);
    const entry = running[index % running.length];
    if (!entry) return;
    entry.isRunning = false;
    if (tokens === undefined) {
      entry.admission.cancel();
      log.entries.splice(log.entries.indexOf(entry), 1);
    } else {
      entry.admission.settle(tokens);
      entry.tokens = tokens;
    }
  }

  function pass(ms: number): void {
    clock.step(ms);
    log.elapsedMs += ms;
  }

  /** Looks at the clock before it is set back, so that what passed until then is not lost. */
  async function setBack(ms: number): Promise<void> {
    await usages();
    clock.step(-ms);
    await usages();
  }

  return { limiter, log, requestOf, usages, admit, end, pass, setBack };
}

async function play(world: ReturnType<typeof setUp>, script: readonly Step[]): Promise<void> {
  for (const each of script) {
    if (each.do === "wait") world.pass(each.ms);
    else if (each.do === "setBack") await world.setBack(each.ms);
    else if (each.do === "admit") await world.admit(each.key, each.tokens);
    else world.end(each.index, each.do === "settle" ? each.tokens : undefined);
  }
}

test("no 60 seconds hold more than N, no bound is over a second too strict, and a refusal changes nothing", async () => {
  const property = fc.asyncProperty(limits, limits, steps, async (keyLimits, accountLimits, script) => {
    await play(setUp(keyLimits, accountLimits), script);
  });
  await fc.assert(property, { numRuns: 400 });
});

test("running requests are counted exactly and return to 0", async () => {
  const property = fc.asyncProperty(limits, limits, steps, async (keyLimits, accountLimits, script) => {
    const world = setUp(keyLimits, accountLimits);
    await play(world, script);
    const running = (await world.usages()).map((usage) => usage.running);
    expect(running).toEqual(KEYS.map(({ keyId }) => runningOf(world.log, { keyId })));
    while (world.log.entries.some((entry) => entry.isRunning)) world.end(0, 1);
    expect((await world.usages()).map((usage) => usage.running)).toEqual([0, 0, 0]);
  });
  await fc.assert(property, { numRuns: 200 });
});

test("a lone caller who waits as long as it is told gets in", async () => {
  const positive = fc.record({
    requestsPerMinute: fc.integer({ min: 1, max: 6 }),
    tokensPerMinute: fc.integer({ min: 120, max: 400 }),
  });
  const property = fc.asyncProperty(
    positive,
    positive,
    steps,
    admitStep,
    async (keyLimits, accountLimits, script, last) => {
      const world = setUp(keyLimits, accountLimits);
      await play(world, script);
      const request = world.requestOf(last.key, last.tokens);
      const first = await world.limiter.admit(request);
      if (first.admitted) return;
      world.pass(first.retryAfterS * 1000);
      expect(await world.limiter.admit(request)).toMatchObject({ admitted: true });
    },
  );
  await fc.assert(property, { numRuns: 400 });
});
