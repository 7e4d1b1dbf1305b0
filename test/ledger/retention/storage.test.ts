import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { connectDatabase } from "../../../src/db/database.ts";
import { openPostgres } from "../../../src/db/postgres/database.ts";
import { ensurePartitions } from "../../../src/db/postgres/partitions.ts";
import { allowShrinking, compactFile } from "../../../src/db/sqlite/compact.ts";
import { openDatabase } from "../../../src/db/sqlite/database.ts";
import { auditPostgres, auditSqlite } from "../../../src/ledger/audit/audit.ts";
import { forgetEndUser } from "../../../src/ledger/end-users.ts";
import { createPostgresLedger } from "../../../src/ledger/postgres/ledger.ts";
import { createPostgresRetentionStore } from "../../../src/ledger/postgres/retention-store.ts";
import { createSqliteLedger } from "../../../src/ledger/sqlite/ledger.ts";
import { createTestDatabase } from "../../support/test-database.ts";
import { until } from "../../support/until.ts";
import { errorCodeOf, FACTS, holdOf, NOON_MS, openLedger, temporaryFolder, WALLET } from "../samples.ts";
import { DAY_MS, fillLedger, LATER_MS, OLD, openOnSqlite, retainAll } from "./env.ts";

const walletId = WALLET;
const CHARGE = { walletId, keyId: "k1", amount: 3n, facts: holdOf(1n).facts, outcome: FACTS };

/** Opens a file whose ledger has `count` charges at {@link NOON_MS}, and a clock 60 days later. */
async function openCharged(count: number) {
  const folder = temporaryFolder();
  const path = join(folder.path, "ledger.db");
  const database = openDatabase(path);
  expect(allowShrinking(path)).toBe(true);
  const clock = { nowMs: NOON_MS };
  const ledger = createSqliteLedger({ database, now: () => clock.nowMs });
  await ledger.createWallet(walletId);
  await ledger.topUp({ walletId, topUpId: "funds", amount: 1_000_000n });
  const charges = Array.from({ length: count }, (_, number) => ({ ...CHARGE, chargeId: `c${number}` }));
  await Promise.all(charges.map((charge) => ledger.charge(charge)));
  clock.nowMs = LATER_MS;
  database.client.run("UPDATE retention SET seen_at_ms = ?", [LATER_MS]);
  while (await ledger.rollUp());
  const close = async () => {
    await ledger.close();
    database.close();
    folder.remove();
  };
  return { path, database, ledger, close };
}

test("a process killed in the middle of a drop leaves a clean audit, and the next one goes on", async () => {
  const { path, database, ledger, close } = await openCharged(4_000);
  const holdsLeft = () =>
    Number(database.client.query("SELECT count(*) FROM holds").values()[0]?.[0] ?? Number.NaN);
  // However late the kill comes, the process has not dropped the last receipt.
  database.client.run(`CREATE TRIGGER stays BEFORE DELETE ON holds
    WHEN NOT EXISTS (SELECT 1 FROM holds WHERE hold_id > old.hold_id) BEGIN SELECT RAISE(ABORT, 'stays'); END`);
  const command = [process.execPath, join(import.meta.dir, "retain-child.ts"), path, `${LATER_MS}`];
  const child = Bun.spawn(command, { stderr: "ignore" });
  await until(() => holdsLeft() < 4_000);
  child.kill("SIGKILL");
  await child.exited;
  database.client.run("DROP TRIGGER stays");
  expect(holdsLeft()).toBeWithin(1, 4_000);
  expect((await auditSqlite(database, LATER_MS)).findings).toEqual([]);
  database.client.run("DELETE FROM leases");
  await retainAll(ledger, 30);
  expect(holdsLeft()).toBe(0);
  expect((await auditSqlite(database, LATER_MS)).findings).toEqual([]);
  await close();
});

test("an ended receipt that is being dropped no longer changes, and an open hold beside it does", async () => {
  const env = await openOnSqlite();
  await fillLedger(env);
  env.clock.nowMs = NOON_MS;
  await env.ledger.hold(holdOf(5n));
  await env.run(`UPDATE retention SET receipts_from_ms = ${NOON_MS + DAY_MS} RETURNING id`);
  const refund = { walletId, refundId: "r2", holdId: OLD.settled, amount: 1n };
  expect(await errorCodeOf(env.ledger.refund(refund))).toBe("hold_not_found");
  const settlement = { walletId, holdId: holdOf(5n).holdId, amount: 5n, facts: FACTS };
  expect(await env.ledger.settle(settlement)).toMatchObject({ captured: 5n });
  await env.close();
});

test("space of dropped receipts is returned to the disk, but for a part that new receipts use", async () => {
  const { path, database, ledger, close } = await openCharged(1);
  database.client.run("CREATE TABLE filling (text TEXT)");
  database.client.run(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000) INSERT INTO filling SELECT zeroblob(4000) FROM n",
  );
  database.client.run("DROP TABLE filling");
  await retainAll(ledger, 30);
  const { bytes } = await ledger.retain({ receiptsDays: 30 });
  const free = Number(database.client.query("PRAGMA freelist_count").values()[0]?.[0]);
  expect(free).toBeWithin(3_000, 5_000);
  database.client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  expect(statSync(path).size).toBeLessThan(25_000_000);
  expect(bytes).toBe(0);
  await close();
});

test("a compacted file has equal numbers of rows, and no free space", async () => {
  const { ledger, database, close } = await openLedger(100n);
  for (const chargeId of ["c1", "c2", "c3"]) await ledger.charge({ ...CHARGE, chargeId });
  const numbers = () => database.client.query("SELECT rowid, transfer_id FROM transfers").all();
  const before = numbers();
  compactFile(database.path);
  expect(numbers()).toEqual(before);
  expect(database.client.query("PRAGMA auto_vacuum").values()).toEqual([[2]]);
  expect((await auditSqlite(database, NOON_MS)).findings).toEqual([]);
  await close();
});

test("in PostgreSQL a long read postpones a drop, and requests go on meanwhile", async () => {
  const { url, drop } = await createTestDatabase();
  const database = await openPostgres(url);
  await ensurePartitions(database.client, NOON_MS);
  const clock = { nowMs: NOON_MS };
  const ledger = createPostgresLedger({ database, now: () => clock.nowMs, busyMaxMs: 60_000 });
  await ledger.createWallet(walletId);
  await ledger.topUp({ walletId, topUpId: "funds", amount: 100n });
  await ledger.charge({ ...CHARGE, chargeId: "c1" });
  clock.nowMs = LATER_MS;
  while (await ledger.rollUp());
  const store = createPostgresRetentionStore(database, () => clock.nowMs, 2);
  const unit = await store.unitOf(Date.UTC(2026, 0, 14, 12), LATER_MS);
  expect(unit).toMatchObject({ table: "holds_2026_01" });
  const reader = database.connect({ max: 1 });
  await reader.begin(async (reading) => {
    await reading.unsafe("SELECT count(*) FROM holds");
    const [progress] = await Promise.all([
      unit && store.drop(unit),
      ledger.charge({ ...CHARGE, chargeId: "c2" }),
    ]);
    expect(progress).toEqual({ receipts: 0, state: "busy" });
  });
  expect(unit && (await store.drop(unit))).toEqual({ receipts: 1, state: "dropped" });
  await reader.close();
  await store.close();
  await ledger.close();
  await database.close();
  await drop();
});

test("in PostgreSQL a month is not dropped with the name of an end user who is forgotten meanwhile", async () => {
  const { url, drop } = await createTestDatabase();
  const database = await connectDatabase({ dialect: "postgres", url });
  if (database.dialect !== "postgres") throw new Error("opened the wrong dialect");
  const { postgres } = database;
  await ensurePartitions(postgres.client, NOON_MS);
  const clock = { nowMs: NOON_MS };
  const ledger = createPostgresLedger({ database: postgres, now: () => clock.nowMs });
  await ledger.createWallet(walletId);
  await ledger.topUp({ walletId, topUpId: "funds", amount: 100n });
  const users = { walletId, limitId: "users", keyId: undefined, each: "end_user", period: "total" } as const;
  await ledger.setSpendLimit({ ...users, amount: 50n });
  const scopes = [{ kind: "end_user", id: "ann" }] as const;
  await ledger.charge({ ...CHARGE, chargeId: "c1", scopes });
  clock.nowMs = LATER_MS;
  while (await ledger.rollUp());
  const store = createPostgresRetentionStore(postgres, () => clock.nowMs, 1_000);
  const unit = await store.unitOf(NOON_MS, LATER_MS);
  const reader = await postgres.client.reserve();
  await reader.unsafe("BEGIN; LOCK TABLE ONLY holds IN ACCESS SHARE MODE").simple();
  const dropped = unit && store.drop(unit);
  // Copies of one template, which other tests use at the same time, have equal ids of relations.
  const waiting = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'holds'::regclass
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  await until(async () => (await postgres.client.unsafe(waiting)).length > 0);
  const receipts: typeof ledger.receipts = async (filter, page) => {
    if (page.token !== undefined) {
      // Once the receipt is renamed, and before what was dropped is.
      await reader.unsafe("COMMIT");
      await dropped;
      return { items: [], nextToken: undefined, searchedToMs: undefined };
    }
    return { ...(await ledger.receipts(filter, page)), nextToken: "next" };
  };
  const forgetting = { walletId, endUser: "ann", pseudonym: "deleted-1" };
  await forgetEndUser({ database, ledger: { receipts } }, forgetting);
  expect(await dropped).toEqual({ receipts: 0, state: "changed" });
  expect(unit && (await store.drop(unit))).toEqual({ receipts: 1, state: "dropped" });
  expect((await auditPostgres(postgres, LATER_MS)).findings).toEqual([]);
  reader.release();
  await store.close();
  await ledger.close();
  await database.close();
  await drop();
});
