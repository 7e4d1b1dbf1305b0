import { describe, expect, test } from "bun:test";
import { ALLOW_DAMAGE, useAudited } from "./audited.ts";
import { FACTS, holdIdOf, holdOf, NOON_MS, type OpenLedger, openLedger, WALLET } from "./samples.ts";

const audited = useAudited();

const walletId = WALLET;
const [h1, h2, h3, h4, h5] = ["h1", "h2", "h3", "h4", "h5"].map((name) => holdIdOf(name)) as [
  string,
  string,
  string,
  string,
  string,
];

/** Opens a ledger of three wallets with every kind of transfer and hold. */
async function openUsed(): Promise<OpenLedger> {
  const open = await openLedger(100n);
  const { ledger, clock } = open;
  await ledger.setSpendLimit({ walletId, limitId: "l1", keyId: "k1", period: "day", amount: 90n });
  for (const holdId of [h1, h2, h3]) await ledger.hold(holdOf(10n, { holdId }));
  await ledger.hold(holdOf(10n, { holdId: h4, ttlMs: 1_000 }));
  await ledger.settle({ walletId, holdId: h1, amount: 9n, facts: FACTS });
  await ledger.refund({ walletId, refundId: "r1", holdId: h1, amount: 4n });
  await ledger.release({ walletId, holdId: h2, facts: FACTS });
  await ledger.charge({
    walletId,
    chargeId: "c1",
    keyId: "k1",
    amount: 6n,
    facts: { surface: "batch", model: "demo" },
    outcome: { outcome: "ok", source: "reported", attempts: [] },
  });
  await ledger.createWallet("other");
  await ledger.topUp({ walletId: "other", topUpId: "funds", amount: 50n });
  await ledger.hold(holdOf(10n, { walletId: "other", holdId: h5, ttlMs: 1_000 }));
  await ledger.extend({ walletId: "other", holdId: h5, accrued: 3n, ttlMs: 1_000 });
  await ledger.extend({ walletId, holdId: h4, accrued: 2n, ttlMs: 1_000 });
  clock.nowMs += 2_000;
  await ledger.sweep();
  await ledger.settle({ walletId: "other", holdId: h5, amount: 8n, facts: FACTS });
  await ledger.createWallet("zebra");
  return open;
}

describe.each(["SQLite", "PostgreSQL"] as const)("the audit of a ledger in %s", (dialect) => {
  const openStore = async () => audited[dialect](await openUsed());

  test("finds nothing in a correct ledger and reports its counts", async () => {
    const store = await openStore();
    const report = await store.audit();
    expect(report).toMatchObject({ wallets: 3, holds: 6, transfers: 8, findings: [], warnings: [] });
    const ids = [
      "C1",
      "C2",
      "C3",
      "I1",
      "I2",
      "I3",
      "I4",
      "I5",
      "I6",
      "I7",
      "I8",
      "I9",
      "R1",
      "S1",
      "U1",
      "U2",
      "U3",
      "U4",
      "U5",
      "U6",
      "U7",
      "U8",
    ];
    expect(report.checked.map((each) => each.slice(0, 2))).toEqual(ids);
    await store.close();
  });

  test("has an equal report for any number of wallets per snapshot", async () => {
    const store = await openStore();
    const whole = await store.audit();
    for (const wallets of [1, 2, 3, 4]) expect(await store.audit(NOON_MS, wallets)).toEqual(whole);
    await store.close();
  });

  test.each<[string, string, readonly string[]]>([
    [
      "a transfer between the wrong accounts",
      "UPDATE transfers SET debit_account = 2 WHERE kind = 1",
      ["I1"],
    ],
    [
      "a balance without a transfer",
      "UPDATE wallets SET posted = posted + 1 WHERE wallet_id = 'zebra'",
      ["I2"],
    ],
    ["a held amount without a hold", "UPDATE wallets SET held = held + 1 WHERE wallet_id = 'acme'", ["I3"]],
    [
      "a hold that was released without its held amount",
      `UPDATE holds SET state = 'released' WHERE hold_id = '${h3}'`,
      ["I3", "I6"],
    ],
    [
      "a released hold with a captured cost",
      `UPDATE holds SET state = 'released' WHERE hold_id = '${h1}'`,
      ["I5", "R1"],
    ],
    ["a lost transfer", "DELETE FROM transfers WHERE kind = 2", ["I2", "I4", "I5"]],
    [
      "a lost last transfer",
      "DELETE FROM transfers WHERE kind = 3 AND wallet_id = 'acme'",
      ["I2", "I4", "I5"],
    ],
    ["a lost charge transfer", "DELETE FROM transfers WHERE kind = 6", ["I2", "I4", "I5"]],
    ["a wrong running balance", "UPDATE transfers SET posted_after = 1 WHERE kind = 2", ["I4"]],
    [
      "a gap in the journal",
      "UPDATE transfers SET seq = seq + 1 WHERE kind = 3 AND wallet_id = 'acme'",
      ["I4"],
    ],
    [
      "a captured cost without a transfer",
      `UPDATE holds SET captured = captured + 1 WHERE hold_id = '${h1}'`,
      ["I5", "I6"],
    ],
    [
      "a refunded amount without a transfer",
      `UPDATE holds SET refunded = refunded + 1 WHERE hold_id = '${h1}'`,
      ["I5", "I6"],
    ],
    ["a transfer without its hold", `DELETE FROM holds WHERE hold_id = '${h1}'`, ["I5", "I6"]],
    ["a charge without its receipt", "DELETE FROM holds WHERE surface = 'batch'", ["I5", "I6"]],
    ["a capture without a hold id", "UPDATE transfers SET hold_id = NULL WHERE kind = 2", ["I5", "R1"]],
    [
      "a capture with another hold's id",
      `UPDATE transfers SET hold_id = '${h2}' WHERE kind = 2`,
      ["I5", "R1"],
    ],
    [
      "a top-up with a hold id",
      `UPDATE transfers SET hold_id = '${h2}' WHERE transfer_id = 'funds'`,
      ["I5", "R1"],
    ],
    [
      "a cost captured by two transfers of one kind",
      `UPDATE transfers SET amount = 5 WHERE kind = 2;
       INSERT INTO transfers SELECT wallet_id, seq + 100, 'again', kind, debit_account, credit_account, 4, 0, hold_id, 0, NULL
       FROM transfers WHERE kind = 2`,
      ["I4", "R1"],
    ],
    ["an expiry capture on a hold settled in time", "UPDATE transfers SET kind = 3 WHERE kind = 2", ["R1"]],
    ["a settlement transfer on an expired hold", "UPDATE transfers SET kind = 2 WHERE kind = 4", ["R1"]],
    ["a charge transfer on a hold", "UPDATE transfers SET kind = 6 WHERE kind = 2", ["R1"]],
    ["a counter with too much used", "UPDATE limit_counters SET used = used + 1", ["I6"]],
    ["a counter with too much held", "UPDATE limit_counters SET held = held + 1", ["I6"]],
    ["a missing counter", "DELETE FROM limit_counters", ["I6"]],
    ["a counter without holds", "INSERT INTO limit_counters VALUES ('zebra', 'l9', 0, 1, 0)", ["I6"]],
    ["missing wallets", "DELETE FROM wallets", ["I2", "I3"]],
    ["a missing wallet between two others", "DELETE FROM wallets WHERE wallet_id = 'other'", ["I2", "I3"]],
    [
      "an overdraft without a cost that explains it",
      "UPDATE wallets SET credit_limit = -200 WHERE wallet_id = 'acme'",
      ["I8"],
    ],
    [
      "an overdraft above the costs that explain it",
      "UPDATE wallets SET credit_limit = -51 WHERE wallet_id = 'other'",
      ["I8"],
    ],
  ])("finds %s", async (_, damage, invariants) => {
    const store = await openStore();
    await store.run(`${ALLOW_DAMAGE[dialect]} ${damage}`);
    for (const wallets of [1_000, 1]) {
      const { findings } = await store.audit(NOON_MS, wallets);
      expect([...new Set(findings.map(({ invariant }) => invariant))].sort()).toEqual([...invariants]);
    }
    await store.close();
  });

  test("accepts an overdraft explained by late settlements, costs above the held amount and charges", async () => {
    const open = await openUsed();
    const { ledger } = open;
    await ledger.settle({ walletId, holdId: h3, amount: 500n, facts: FACTS });
    await ledger.settle({ walletId, holdId: h4, amount: 4_000_000_000_000n, facts: FACTS });
    await ledger.charge({
      walletId,
      chargeId: "c2",
      keyId: "k1",
      amount: 4_000_000_000n,
      facts: { surface: "batch", model: "demo" },
      outcome: { outcome: "ok", source: "reported", attempts: [] },
    });
    const store = await audited[dialect](open);
    expect((await store.audit()).findings).toEqual([]);
    await store.close();
  });

  test("warns of a hold well past its time", async () => {
    const store = await openStore();
    expect((await store.audit(NOON_MS + 89_999)).warnings).toEqual([]);
    const { warnings, findings } = await store.audit(NOON_MS + 90_000);
    expect(warnings).toMatchObject([{ invariant: "I7", walletId, subject: h3 }]);
    expect(findings).toEqual([]);
    await store.close();
  });

  test("reports at most 100 findings of an invariant over all snapshots", async () => {
    const store = await openStore();
    await store.run(`INSERT INTO wallets (wallet_id, posted, held, credit_limit, state, last_seq, created_at_ms)
      SELECT 'w' || n, 1, 0, 0, 'active', 0, 0
      FROM (WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 250) SELECT n FROM n) AS numbers`);
    const report = await store.audit(NOON_MS, 60);
    expect(report.wallets).toBe(253);
    expect(report.findings).toHaveLength(100);
    await store.close();
  });
});
