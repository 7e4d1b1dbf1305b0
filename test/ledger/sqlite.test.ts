import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { auditSqlite } from "../../src/ledger/audit/audit.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { FACTS, holdIdOf, holdOf, type OpenLedger, openLedger, WALLET } from "./samples.ts";

let open: OpenLedger;

beforeEach(async () => {
  open = await openLedger(100n);
});

afterEach(async () => {
  expect(await auditSqlite(open.database, open.clock.nowMs)).toMatchObject({ findings: [], warnings: [] });
  await open.close();
});

describe("a ledger in a SQLite file", () => {
  test("rejects updates and deletes of transfers", () => {
    const { client } = open.database;
    expect(() => client.run("UPDATE transfers SET amount = 1")).toThrow("append-only");
    expect(() => client.run("DELETE FROM transfers")).toThrow("append-only");
  });

  test("keeps open holds across a restart", async () => {
    const { ledger, database, clock } = open;
    await ledger.hold(holdOf(30n));
    await ledger.close();
    const again = createSqliteLedger({ database, now: () => clock.nowMs });
    const settled = await again.settle({
      walletId: WALLET,
      holdId: holdIdOf("h1"),
      amount: 31n,
      facts: FACTS,
    });
    expect(settled).toMatchObject({ balances: { posted: 69n, held: 0n, available: 69n } });
    await again.close();
  });
});
