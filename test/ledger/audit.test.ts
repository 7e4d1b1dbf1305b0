import { describe, expect, test } from "bun:test";
import { auditSqlite } from "../../src/ledger/audit.ts";
import { FACTS, holdOf, NOON_MS, openLedger, WALLET } from "./samples.ts";

const walletId = WALLET;

/** Books with something of everything in them. */
async function openUsed() {
  const open = await openLedger(100n);
  const { ledger } = open;
  await ledger.setSpendLimit({ walletId, limitId: "l1", keyId: "k1", period: "day", amount: 90n });
  for (const holdId of ["h1", "h2", "h3"]) await ledger.hold(holdOf(10n, { holdId }));
  await ledger.settle({ walletId, holdId: "h1", amount: 9n, facts: FACTS });
  await ledger.refund({ walletId, refundId: "r1", holdId: "h1", amount: 4n });
  await ledger.release({ walletId, holdId: "h2", facts: FACTS });
  return open;
}

const DROP = "DROP TRIGGER transfers_never_change; DROP TRIGGER transfers_never_go;";

describe("the audit", () => {
  test("finds nothing in right books and says what it looked at", async () => {
    const open = await openUsed();
    const report = auditSqlite(open.database, NOON_MS);
    expect(report).toMatchObject({ wallets: 1, holds: 3, transfers: 3, findings: [], warnings: [] });
    expect(report.checked.map((each) => each.slice(0, 2)).toSorted()).toEqual([
      "I1",
      "I2",
      "I3",
      "I4",
      "I5",
      "I6",
      "I7",
      "I8",
    ]);
    await open.close();
  });

  test.each<[string, string, readonly string[]]>([
    [
      "a transfer between the wrong accounts",
      `${DROP} UPDATE transfers SET debit_account = 2 WHERE kind = 1`,
      ["I1"],
    ],
    ["a balance without a transfer", "UPDATE wallets SET posted = posted + 1", ["I2"]],
    ["money held for nobody", "UPDATE wallets SET held = held + 1", ["I3"]],
    ["a hold that is not held", "UPDATE holds SET state = 'released' WHERE hold_id = 'h3'", ["I3", "I6"]],
    ["a release that was paid for", "UPDATE holds SET state = 'released' WHERE hold_id = 'h1'", ["I5"]],
    ["a lost transfer", `${DROP} DELETE FROM transfers WHERE kind = 2`, ["I2", "I4", "I5"]],
    ["a lost last transfer", `${DROP} DELETE FROM transfers WHERE kind = 5`, ["I2", "I4", "I5"]],
    ["a wrong running balance", `${DROP} UPDATE transfers SET posted_after = 1 WHERE kind = 2`, ["I4"]],
    [
      "a cost that was never booked",
      "UPDATE holds SET captured = captured + 1 WHERE hold_id = 'h1'",
      ["I5", "I6"],
    ],
    [
      "a refund that was never booked",
      "UPDATE holds SET refunded = refunded + 1 WHERE hold_id = 'h1'",
      ["I5", "I6"],
    ],
    ["a transfer of no hold", "DELETE FROM holds WHERE hold_id = 'h1'", ["I5", "I6"]],
    ["a counter that has drifted", "UPDATE limit_counters SET used = used + 1", ["I6"]],
    ["a counter that is gone", "DELETE FROM limit_counters", ["I6"]],
    ["a wallet that is gone", "DELETE FROM wallets", ["I2", "I3"]],
    ["an overdraft that no cost explains", "UPDATE wallets SET credit_limit = -200", ["I8"]],
  ])("finds %s", async (_, damage, invariants) => {
    const open = await openUsed();
    open.database.client.run(damage);
    const { findings } = auditSqlite(open.database, NOON_MS);
    expect([...new Set(findings.map(({ invariant }) => invariant))]).toEqual([...invariants]);
    await open.close();
  });

  test("accepts an overdraft that a cost above its hold explains", async () => {
    const open = await openUsed();
    await open.ledger.settle({ walletId, holdId: "h3", amount: 500n, facts: FACTS });
    expect(auditSqlite(open.database, NOON_MS).findings).toEqual([]);
    await open.close();
  });

  test("warns of a hold well past its time", async () => {
    const open = await openUsed();
    expect(auditSqlite(open.database, NOON_MS + 89_999).warnings).toEqual([]);
    const { warnings, findings } = auditSqlite(open.database, NOON_MS + 90_000);
    expect(warnings).toMatchObject([{ invariant: "I7", walletId, subject: "h3" }]);
    expect(findings).toEqual([]);
    await open.close();
  });
});
