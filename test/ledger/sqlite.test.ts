import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { MIGRATIONS, openDatabase } from "../../src/db/sqlite/database.ts";
import { auditSqlite } from "../../src/ledger/audit/audit.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import {
  FACTS,
  holdIdOf,
  holdOf,
  NOON_MS,
  type OpenLedger,
  openLedger,
  temporaryFolder,
  WALLET,
} from "./samples.ts";

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

const walletId = WALLET;
const [openId, settledId] = [holdIdOf("open"), holdIdOf("settled")];
const DAY_START_MS = NOON_MS - 43_200_000;

/** Writes a ledger of schema version 2: a top-up, a settled hold, an open hold and a limit. */
function writeOldLedger(path: string): void {
  const old = new Database(path, { create: true });
  for (const migration of MIGRATIONS.slice(0, 2)) old.run(migration);
  old.run("PRAGMA user_version = 2");
  const [limits, facts] = [JSON.stringify([["l1", DAY_START_MS]]), "'chat', 'demo'"];
  old.run(`INSERT INTO wallets VALUES ('acme', 93, 20, 0, 'active', 2, 0);
    INSERT INTO transfers VALUES ('acme', 1, 't1', 1, 3, 1, 100, 100, NULL, 0),
      ('acme', 2, '${settledId}', 2, 1, 2, 7, 93, '${settledId}', 0);
    INSERT INTO spend_limits VALUES ('acme', 'l1', 'k1', 'day', 50);
    INSERT INTO limit_counters VALUES ('acme', 'l1', ${DAY_START_MS}, 7, 20);
    INSERT INTO holds (wallet_id, hold_id, key_id, state, late, requested, minimum, granted, accrued, actual,
      captured, refunded, ttl_ms, created_at_ms, expires_at_ms, resolved_at_ms, limits, surface, model, metadata,
      outcome, source, total_ms, attempts)
    VALUES ('acme', '${settledId}', 'k1', 'settled', 0, 10, 10, 10, 0, 7, 7, 0, 60000, ${NOON_MS}, ${NOON_MS},
        ${NOON_MS}, '${limits}', ${facts}, '{"a":1}', 'ok', 'reported', 900, '[]'),
      ('acme', '${openId}', 'k1', 'held', 0, 20, 20, 20, 0, NULL, 0, 0, 60000, ${NOON_MS}, ${NOON_MS + 60_000},
        NULL, '${limits}', ${facts}, NULL, NULL, NULL, NULL, NULL);`);
  old.close();
}

test("a ledger of an earlier schema version works after the migration", async () => {
  const folder = temporaryFolder();
  const path = join(folder.path, "old.db");
  writeOldLedger(path);
  const database = openDatabase(path);
  const ledger = createSqliteLedger({ database, now: () => NOON_MS });

  expect(await ledger.receipt(walletId, settledId)).toMatchObject({ captured: 7n, metadata: { a: 1 } });
  expect(await ledger.spendLimits(walletId, "k1")).toMatchObject([{ amount: 50n, used: 7n, held: 20n }]);
  expect(await ledger.hold(holdOf(20n, { holdId: openId }))).toMatchObject({ granted: 20n, replayed: true });
  await ledger.settle({ walletId, holdId: openId, amount: 25n, facts: FACTS, metadata: { b: 2 } });
  await ledger.refund({ walletId, refundId: "r1", holdId: settledId, amount: 7n });
  expect(await ledger.receipt(walletId, openId)).toMatchObject({ captured: 25n, metadata: { b: 2 } });
  expect(await ledger.receipt(walletId, settledId)).toMatchObject({ refunded: 7n, metadata: { a: 1 } });
  await ledger.deleteSpendLimit({ walletId, limitId: "l1" });
  expect(await ledger.spendLimits(walletId, "k1")).toEqual([]);
  expect((await auditSqlite(database, NOON_MS)).findings).toEqual([]);

  await ledger.close();
  database.close();
  folder.remove();
});
