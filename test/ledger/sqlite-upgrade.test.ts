import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { MIGRATIONS, openDatabase } from "../../src/db/sqlite/database.ts";
import { auditSqlite } from "../../src/ledger/audit/audit.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { FACTS, holdIdOf, holdOf, NOON_MS, temporaryFolder, WALLET } from "./samples.ts";

const walletId = WALLET;
const [open, settled] = [holdIdOf("open"), holdIdOf("settled")];
const DAY_START_MS = NOON_MS - 43_200_000;

/** A ledger as it was before charges and time zones: a top-up, a settled hold, an open one, a limit. */
function writeOldBooks(path: string): void {
  const old = new Database(path, { create: true });
  for (const migration of MIGRATIONS.slice(0, 2)) old.run(migration);
  old.run("PRAGMA user_version = 2");
  const [limits, asked] = [JSON.stringify([["l1", DAY_START_MS]]), "'chat', 'demo'"];
  old.run(`INSERT INTO wallets VALUES ('acme', 93, 20, 0, 'active', 2, 0);
    INSERT INTO transfers VALUES ('acme', 1, 't1', 1, 3, 1, 100, 100, NULL, 0),
      ('acme', 2, '${settled}', 2, 1, 2, 7, 93, '${settled}', 0);
    INSERT INTO spend_limits VALUES ('acme', 'l1', 'k1', 'day', 50);
    INSERT INTO limit_counters VALUES ('acme', 'l1', ${DAY_START_MS}, 7, 20);
    INSERT INTO holds (wallet_id, hold_id, key_id, state, late, requested, minimum, granted, accrued, actual,
      captured, refunded, ttl_ms, created_at_ms, expires_at_ms, resolved_at_ms, limits, surface, model, metadata,
      outcome, source, total_ms, attempts)
    VALUES ('acme', '${settled}', 'k1', 'settled', 0, 10, 10, 10, 0, 7, 7, 0, 60000, ${NOON_MS}, ${NOON_MS},
        ${NOON_MS}, '${limits}', ${asked}, '{"a":1}', 'ok', 'reported', 900, '[]'),
      ('acme', '${open}', 'k1', 'held', 0, 20, 20, 20, 0, NULL, 0, 0, 60000, ${NOON_MS}, ${NOON_MS + 60_000},
        NULL, '${limits}', ${asked}, NULL, NULL, NULL, NULL, NULL);`);
  old.close();
}

test("books of the version before are carried on", async () => {
  const folder = temporaryFolder();
  const path = join(folder.path, "old.db");
  writeOldBooks(path);
  const database = openDatabase(path);
  const ledger = createSqliteLedger({ database, now: () => NOON_MS });

  expect(await ledger.receipt(walletId, settled)).toMatchObject({ captured: 7n, metadata: { a: 1 } });
  expect(await ledger.spendLimits(walletId, "k1")).toMatchObject([{ amount: 50n, used: 7n, held: 20n }]);
  expect(await ledger.hold(holdOf(20n, { holdId: open }))).toMatchObject({ granted: 20n, replayed: true });
  await ledger.settle({ walletId, holdId: open, amount: 25n, facts: FACTS, metadata: { b: 2 } });
  await ledger.refund({ walletId, refundId: "r1", holdId: settled, amount: 7n });
  expect(await ledger.receipt(walletId, open)).toMatchObject({ captured: 25n, metadata: { b: 2 } });
  expect(await ledger.receipt(walletId, settled)).toMatchObject({ refunded: 7n, metadata: { a: 1 } });
  await ledger.deleteSpendLimit({ walletId, limitId: "l1" });
  expect(await ledger.spendLimits(walletId, "k1")).toEqual([]);
  expect((await auditSqlite(database, NOON_MS)).findings).toEqual([]);

  await ledger.close();
  database.close();
  folder.remove();
});
