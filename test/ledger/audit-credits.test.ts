import { describe, expect, test } from "bun:test";
import { auditSqlite } from "../../src/ledger/audit/audit.ts";
import { LedgerError } from "../../src/ledger/ledger.ts";
import { ALLOW_DAMAGE, useAudited } from "./audited.ts";
import { FACTS, holdIdOf, holdOf, NOON_MS, type OpenLedger, openLedger, WALLET } from "./samples.ts";

const audited = useAudited();

const walletId = WALLET;
const MINUTE_MS = 60_000;
const TTL_MS = 10 * MINUTE_MS;
const OTHER = "other";

/** A wallet whose promotion has ended after a hold spent of it, and whose plan has ended while a hold claims 15 of it. */
async function openCredited(): Promise<OpenLedger> {
  const open = await openLedger(100n);
  const { ledger, clock } = open;
  const start = clock.nowMs;
  const grants = [
    { topUpId: "gift", amount: 50n, source: "promotion", expiresAtMs: start + MINUTE_MS },
    { topUpId: "month", amount: 30n, source: "plan", expiresAtMs: start + 2 * MINUTE_MS },
  ] as const;
  for (const grant of grants) await ledger.topUp({ walletId, ...grant });
  await ledger.hold(holdOf(20n, { holdId: holdIdOf("h1"), ttlMs: TTL_MS }));
  await charge(open, "c1", 5n);
  clock.nowMs = start + MINUTE_MS;
  await ledger.sweep();
  await ledger.settle({ walletId, holdId: holdIdOf("h1"), amount: 8n, facts: FACTS });
  await charge(open, "c2", 10n);
  await ledger.hold(holdOf(15n, { holdId: holdIdOf("h2"), ttlMs: TTL_MS }));
  clock.nowMs = start + 2 * MINUTE_MS;
  await ledger.sweep();
  await ledger.createWallet(OTHER);
  await ledger.topUp({ walletId: OTHER, topUpId: "funds", amount: 50n });
  return open;
}

async function charge({ ledger }: OpenLedger, chargeId: string, amount: bigint): Promise<void> {
  const facts = { surface: "batch", model: "demo" };
  await ledger.charge({ walletId, chargeId, keyId: "k1", amount, facts, outcome: FACTS });
}

describe.each(["SQLite", "PostgreSQL"] as const)("the audit of credits in %s", (dialect) => {
  test("finds nothing in a correct ledger", async () => {
    const open = await openCredited();
    const { items } = await open.ledger.credits(walletId, { size: 10 });
    expect(items.map(({ creditId, left, expired }) => [creditId, left, expired])).toEqual([
      ["month", 15n, 5n],
      ["gift", 0n, 37n],
      ["funds", 100n, 0n],
    ]);
    const store = await audited[dialect](open);
    expect((await store.audit()).findings).toEqual([]);
    await store.close();
  });

  test("finds nothing when a hold from before an end has a later time, because the clock was set back", async () => {
    const open = await openLedger(100n);
    const { ledger, clock } = open;
    await ledger.hold(holdOf(20n, { holdId: holdIdOf("h1"), ttlMs: TTL_MS }));
    clock.nowMs -= 2 * MINUTE_MS;
    const expiresAtMs = clock.nowMs + MINUTE_MS;
    await ledger.topUp({ walletId, topUpId: "gift", amount: 50n, source: "promotion", expiresAtMs });
    clock.nowMs = expiresAtMs;
    await ledger.sweep();
    await ledger.settle({ walletId, holdId: holdIdOf("h1"), amount: 8n, facts: FACTS });
    const store = await audited[dialect](open);
    expect((await store.audit()).findings).toEqual([]);
    await store.close();
  });

  test.each<[string, string, readonly string[]]>([
    [
      "the end of a credit between other accounts",
      "UPDATE transfers SET credit_account = 2 WHERE kind = 7",
      ["I1"],
    ],
    ["an end with a hold", `UPDATE transfers SET hold_id = '${holdIdOf("h2")}' WHERE kind = 7`, ["I5", "R1"]],
    [
      "more left than the balance",
      "UPDATE credits SET left_amount = left_amount + 1 WHERE wallet_id = 'acme' AND source = 'purchase'",
      ["C1"],
    ],
    [
      "more claimed than the open holds have",
      "UPDATE credits SET left_amount = 16 WHERE source = 'plan'; UPDATE wallets SET posted = posted + 1 WHERE wallet_id = 'acme'",
      ["C1", "I2"],
    ],
    ["a spent credit that counts as live", "UPDATE credits SET live = (1 = 1)", ["C1"]],
    ["two live credits of a wallet that is not mixed", "UPDATE wallets SET mixed = (1 = 0)", ["C1"]],
    ["a missing newest credit", "UPDATE wallets SET newest_credit = 77 WHERE wallet_id = 'other'", ["C1"]],
    [
      "an expired amount without an end",
      "UPDATE credits SET expired = expired + 1 WHERE source = 'purchase'",
      ["C2"],
    ],
    ["an end without its credit", "UPDATE transfers SET credits = NULL WHERE kind = 7", ["C2"]],
    [
      "an end of another credit",
      `UPDATE transfers SET credits = '[[1,"25"]]' WHERE kind = 7 AND amount = 25`,
      ["C2"],
    ],
    [
      "a part above its transfer",
      `UPDATE transfers SET credits = '[[1,"11"]]' WHERE transfer_id = 'c2'`,
      ["C2"],
    ],
    [
      "a charge to a credit that had ended",
      `UPDATE transfers SET credits = '[[2,"10"]]' WHERE transfer_id = 'c2'`,
      ["C3"],
    ],
    [
      "a hold from after the end that spent of it",
      `UPDATE holds SET created_at_ms = ${NOON_MS + MINUTE_MS} WHERE hold_id = '${holdIdOf("h1")}'`,
      ["C3"],
    ],
    [
      "a charge to an unknown credit",
      `UPDATE transfers SET credits = '[[99,"10"]]' WHERE transfer_id = 'c2'`,
      ["C3"],
    ],
  ])("finds %s", async (_, damage, invariants) => {
    const store = await audited[dialect](await openCredited());
    await store.run(`${ALLOW_DAMAGE[dialect]} ${damage}`);
    for (const wallets of [1_000, 1]) {
      const { findings } = await store.audit(NOON_MS, wallets);
      expect([...new Set(findings.map(({ invariant }) => invariant))].sort()).toEqual([...invariants]);
    }
    await store.close();
  });
});

test("a wallet with 100 live credits adds a top-up to one of its source and end", async () => {
  const open = await openLedger(0n);
  const { ledger, clock } = open;
  const grant = (at: number, more: object = {}) =>
    ledger.topUp({ walletId, topUpId: `t${at}`, amount: 2n, ...more });
  await Promise.all(Array.from({ length: 100 }, (_, at) => grant(at)));
  expect(await grant(100)).toMatchObject({ replayed: false, balances: { posted: 202n } });
  expect(await grant(100)).toMatchObject({ replayed: true, balances: { posted: 202n } });
  const { items } = await ledger.credits(walletId, { size: 1_000 });
  expect(items).toHaveLength(100);
  expect(items[0]).toMatchObject({ creditId: "t99", amount: 4n, left: 4n });
  await charge(open, "c1", 201n);
  expect((await ledger.credits(walletId, { size: 9 }, { isLive: true })).items).toMatchObject([{ left: 1n }]);
  expect((await auditSqlite(open.database, clock.nowMs)).findings).toEqual([]);
  await open.close();
});

test.each(Array.from({ length: 12 }, (_, seed) => seed))(
  "the audit finds nothing after random grants, ends, holds and refunds of seed %i",
  async (seed) => {
    const open = await openLedger(0n);
    const next = createRandom(seed);
    for (let step = 0; step < 120; step += 1) await act(open, next, step).catch(ignoreDecline);
    while (await open.ledger.rollUp());
    const { findings } = await auditSqlite(open.database, open.clock.nowMs);
    expect(findings).toEqual([]);
    await open.close();
  },
);

/** One command of a small wallet whose credits end all the time. */
async function act(open: OpenLedger, next: (below: number) => number, step: number): Promise<void> {
  const { ledger, clock } = open;
  const which = { walletId, holdId: holdIdOf(`h${next(step + 1)}`) };
  const amount = BigInt(1 + next(30));
  clock.nowMs += next(4) * (next(9) === 0 ? 1_800_000 : 1_000);
  const expiresAtMs = next(3) === 0 ? undefined : clock.nowMs + (1 + next(20)) * 1_000;
  const source = next(2) === 0 ? "promotion" : "purchase";
  const grant = () => ledger.topUp({ walletId, topUpId: `t${step}`, amount, source, expiresAtMs });
  const hold = () =>
    ledger.hold(holdOf(amount, { holdId: holdIdOf(`h${step}`), ttlMs: (1 + next(30)) * 1_000 }));
  const acts: readonly (() => Promise<unknown>)[] = [
    grant,
    grant,
    hold,
    hold,
    hold,
    () => ledger.settle({ ...which, amount, facts: FACTS }),
    () => ledger.settle({ ...which, amount, facts: FACTS }),
    () => ledger.release({ ...which, facts: FACTS }),
    () => ledger.extend({ ...which, accrued: amount, ttlMs: 5_000 }),
    () => ledger.refund({ ...which, refundId: `r${step}`, amount: BigInt(1 + next(5)), creditLifeMs: 9_000 }),
    () => ledger.topUp({ walletId, topUpId: `t${step}`, amount: -amount, creditId: `t${next(step + 1)}` }),
    () => charge(open, `c${step}`, amount),
    () => ledger.sweep(),
    () => ledger.rollUp(),
  ];
  await acts[next(acts.length)]?.();
}

function createRandom(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

function ignoreDecline(error: unknown): void {
  if (!(error instanceof LedgerError) || error.code === "unavailable") throw error;
}
