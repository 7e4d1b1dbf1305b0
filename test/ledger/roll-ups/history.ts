import { expect } from "bun:test";
import fc from "fast-check";
import type { Scope } from "../../../src/domain/scope.ts";
import { LedgerError } from "../../../src/ledger/ledger.ts";
import type { OutcomeFacts, UsageQuery } from "../../../src/ledger/records.ts";
import { rollUpOnce } from "../../../src/ledger/roll-ups/job.ts";
import type { RollUpStore } from "../../../src/ledger/roll-ups/store.ts";
import type { UsageDimension } from "../../../src/ledger/usage-records.ts";
import type { LedgerUnderTest } from "../contract/env.ts";
import { FACTS, holdIdOf } from "../samples.ts";
import { plainScopes, readScopeDays } from "./plain-scopes.ts";
import { plainUsage, readAll } from "./plain-usage.ts";
import { expectLimits, expectUsage, scopeQueriesOf } from "./scope-queries.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** One step of a history. Numbers choose among what is there. */
export type Step =
  | {
      readonly kind: "hold";
      readonly wallet: number;
      readonly key: number;
      readonly offsetMs: number;
      readonly ttlMs: number;
    }
  | { readonly kind: "settle"; readonly pick: number; readonly amount: number; readonly outcome: number }
  | { readonly kind: "release"; readonly pick: number }
  | { readonly kind: "charge"; readonly wallet: number; readonly amount: number }
  | { readonly kind: "refund"; readonly pick: number; readonly amount: number }
  | { readonly kind: "sweep" }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "rollUp"; readonly steps: number }
  | { readonly kind: "rivals"; readonly steps: number }
  | { readonly kind: "killed"; readonly afterWrites: number }
  | { readonly kind: "rollUpMeanwhile"; readonly pick: number; readonly steps: number };

const nat = (max: number) => fc.nat({ max });
const DAY_MS = 24 * HOUR_MS;

export const histories: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant("hold" as const),
        wallet: nat(2),
        key: nat(1),
        offsetMs: fc.oneof(
          fc.constant(0),
          fc.integer({ min: -2 * HOUR_MS, max: 0 }),
          fc.integer({ min: -DAY_MS, max: DAY_MS }),
        ),
        ttlMs: fc.constantFrom(1_000, 10 * MINUTE_MS, 3 * HOUR_MS, 60 * HOUR_MS),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("settle" as const),
        pick: nat(99),
        amount: nat(9),
        outcome: nat(2),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("release" as const), pick: nat(99) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("charge" as const), wallet: nat(2), amount: nat(9) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("refund" as const), pick: nat(99), amount: nat(4) }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: "sweep" as const }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("pass" as const),
        ms: fc.oneof(
          fc.integer({ min: 0, max: 3 * HOUR_MS }),
          fc.constant(30 * HOUR_MS),
          fc.integer({ min: -20 * HOUR_MS, max: 0 }),
        ),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("rollUp" as const), steps: nat(40) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("rivals" as const), steps: nat(10) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("killed" as const), afterWrites: nat(5) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("rollUpMeanwhile" as const), pick: nat(99), steps: nat(5) }),
    },
  ),
  { minLength: 5, maxLength: 40, size: "max" },
);

const OUTCOMES: readonly OutcomeFacts[] = [
  FACTS,
  {
    outcome: "ok",
    source: "estimated",
    upstream: "openai",
    firstOutputMs: 1_500,
    totalMs: 40_000,
    attempts: [],
  },
  { outcome: "upstream_timeout", source: "none", totalMs: 51, attempts: [] },
];

/** A history in progress on wallets of its own. */
export interface History {
  readonly prefix: string;
  run(step: Step): Promise<void>;
  /** Compares usage by every dimension with plain sums over all receipts. */
  check(): Promise<void>;
  /** Sets limits, and compares what they count of the time before with plain sums. */
  checkLimits(): Promise<void>;
}

/** Two jobs of other processes, which ignore the lease, so that they run at once. */
export interface Rivals {
  readonly one: RollUpStore;
  readonly other: RollUpStore;
}

export function openRivals(env: LedgerUnderTest): Rivals {
  const withoutLease = (store: RollUpStore): RollUpStore => ({ ...store, takeLease: async () => true });
  return { one: withoutLease(env.openRollUps()), other: withoutLease(env.openRollUps()) };
}

/** So few that most days have scopes beyond. */
export const OWN_ROWS_MAX = 2;

let started = 0;

export async function startHistory(env: LedgerUnderTest, { one, other }: Rivals): Promise<History> {
  const { ledger, clock } = env;
  const prefix = `history-${++started}`;
  const wallets = [0, 1, 2].map((number) => `${prefix}/${number}`);
  for (const walletId of wallets) {
    await ledger.createWallet(walletId);
    await ledger.topUp({ walletId, topUpId: "funds", amount: 1_000_000n });
  }
  const holds: { walletId: string; holdId: string }[] = [];
  let made = 0;

  const pickHold = (pick: number) => holds[pick % Math.max(1, holds.length)];
  const settle = async (pick: number, amount: number, outcome: number) => {
    const hold = pickHold(pick);
    const facts = OUTCOMES[outcome % OUTCOMES.length] ?? FACTS;
    if (hold) await declinable(ledger.settle({ ...hold, amount: BigInt(amount), facts }));
  };
  const steps = async (store: RollUpStore, count: number) => {
    for (let step = 0; step < count && (await rollUpOnce(store, { ownRowsMax: OWN_ROWS_MAX })); step++);
  };

  const run = async (step: Step) => {
    switch (step.kind) {
      case "hold": {
        const walletId = wallets[step.wallet] ?? "";
        const holdId = holdIdOf(`${prefix} ${++made}`, clock.nowMs + step.offsetMs);
        const facts = { surface: "chat", model: `model-${step.key}` };
        const request = { walletId, holdId, keyId: `key-${step.key}`, amount: 10n, minimum: 10n };
        const scopes = scopesOf(step.key, made);
        await declinable(ledger.hold({ ...request, scopes, ttlMs: step.ttlMs, facts }));
        holds.push({ walletId, holdId });
        return;
      }
      case "settle":
        return settle(step.pick, step.amount, step.outcome);
      case "release": {
        const hold = pickHold(step.pick);
        const facts = { outcome: "client_closed", source: "none", attempts: [] } as const;
        if (hold) await declinable(ledger.release({ ...hold, facts }));
        return;
      }
      case "charge": {
        const walletId = wallets[step.wallet] ?? "";
        const facts = { surface: "batch", model: "model-0" };
        const request = { walletId, chargeId: `charge-${++made}`, keyId: "key-0", facts, outcome: FACTS };
        const { receiptId } = await ledger.charge({ ...request, amount: BigInt(step.amount + 1) });
        holds.push({ walletId, holdId: receiptId });
        return;
      }
      case "refund": {
        const hold = pickHold(step.pick);
        const refundId = `refund-${++made}`;
        if (hold) await declinable(ledger.refund({ ...hold, refundId, amount: BigInt(step.amount + 1) }));
        return;
      }
      case "sweep":
        await env.sweep();
        return;
      case "pass":
        clock.nowMs += step.ms;
        return;
      case "rollUp":
        return steps(one, step.steps);
      case "rivals":
        await Promise.all([steps(one, step.steps), steps(other, step.steps)]);
        return;
      case "killed":
        return steps(killedAfter(one, step.afterWrites), 100).catch(() => undefined);
      case "rollUpMeanwhile":
        await Promise.all([steps(one, step.steps), settle(step.pick, 7, 0), settle(step.pick + 1, 8, 1)]);
        return;
    }
  };

  const check = async () => {
    for (const walletId of wallets) {
      const receipts = await readAll(ledger, walletId);
      for (const query of queriesOf(walletId, clock.nowMs)) {
        const { rows, offsetHours } = await ledger.usage(query);
        expectUsage(query, rows, plainUsage(receipts, { ...query, offsetHours }));
      }
    }
    expect(await readScopeDays(one)).toEqual(await plainScopes(ledger, one, OWN_ROWS_MAX));
    const receipts = await readAll(ledger, undefined);
    for (const query of queriesOfAll(clock.nowMs)) {
      const { rows } = await ledger.usage(query);
      expect([query, rows]).toEqual([query, plainUsage(receipts, query)]);
    }
  };
  const checkLimits = async () => {
    for (const walletId of wallets) await expectLimits(env, walletId, await readAll(ledger, walletId));
  };
  return { prefix, run, check, checkLimits };
}

/** Scopes of every kind; some receipts have several of one, or none at all. */
function scopesOf(key: number, number: number): readonly Scope[] {
  const user: Scope = { kind: "end_user", id: `u${number % 3}` };
  if (number % 7 === 6) return [];
  if (key === 0) return [user];
  const tags = ["team=red", `stage=${number % 2}`, ...(number % 5 === 0 ? ["team=blue"] : [])];
  return [
    { kind: "parent_key", id: `parent-${number % 2}` },
    { kind: "parent_key", id: "root" },
    { kind: "project", id: "p1" },
    ...(number % 2 === 0 ? [{ kind: "member", id: "m1" } as const] : []),
    user,
    ...tags.map((id) => ({ kind: "tag", id }) as const),
    { kind: "run", id: `run-${number}` },
  ];
}

const GROUPS: readonly (readonly UsageDimension[])[] = [
  [],
  ["hour"],
  ["day"],
  ["key", "model"],
  ["upstream", "outcome"],
  ["surface", "source"],
  ["day", "outcome"],
];

function queriesOf(walletId: string, nowMs: number): readonly UsageQuery[] {
  const [fromMs, toMs] = [nowMs - 20 * HOUR_MS - 17 * MINUTE_MS, nowMs - HOUR_MS - 23 * MINUTE_MS];
  return [
    ...GROUPS.map((groupBy) => ({ walletId, groupBy })),
    { walletId, groupBy: ["hour", "key"], fromMs, toMs },
    { walletId, groupBy: ["day"], fromMs: nowMs - 72 * HOUR_MS, toMs: nowMs, offsetHours: 9 },
    { walletId, groupBy: ["day"], fromMs: nowMs - 72 * HOUR_MS, offsetHours: -7 },
    { walletId, groupBy: ["outcome"], keyId: "key-1", fromMs },
    { walletId, groupBy: [], upstream: "openai", toMs },
    { walletId, groupBy: ["key"], state: "settled" },
    { walletId, groupBy: ["project", "outcome"] },
    { walletId, groupBy: ["end_user"], scopes: [{ kind: "project", id: walletId }], fromMs },
    { walletId, groupBy: ["hour", "model"], dearestMax: 3, toMs },
    { walletId, groupBy: [], dearestMax: 1, fromMs },
    { walletId, groupBy: ["day", "end_user"], among: ["u0", "u2"], scopes: [{ kind: "project", id: "p1" }] },
    { walletId, groupBy: ["hour", "model"], among: ["model-1", "none"] },
    { walletId, groupBy: ["upstream"], among: ["openai"], dearestMax: 5 },
    ...scopeQueriesOf(walletId, toMs),
  ];
}

/** Queries of all wallets: with the totals, and with what they lack. */
function queriesOfAll(nowMs: number): readonly UsageQuery[] {
  const [fromMs, toMs] = [nowMs - 50 * HOUR_MS - 17 * MINUTE_MS, nowMs - HOUR_MS - 23 * MINUTE_MS];
  return [
    { walletId: undefined, groupBy: ["wallet", "day"] },
    { walletId: undefined, groupBy: ["day", "model"] },
    { walletId: undefined, groupBy: ["hour"], fromMs, toMs },
    { walletId: undefined, groupBy: ["upstream", "outcome"], model: "model-1", fromMs },
  ];
}

/** A job whose process is killed when it has written this often. */
function killedAfter(store: RollUpStore, writes: number): RollUpStore {
  let left = writes;
  return {
    ...store,
    async write(change) {
      if (left-- <= 0) throw new Error("killed");
      return store.write(change);
    },
  };
}

/** A command that the ledger may decline. */
async function declinable(command: Promise<unknown>): Promise<void> {
  try {
    await command;
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code === "unavailable") throw error;
  }
}
