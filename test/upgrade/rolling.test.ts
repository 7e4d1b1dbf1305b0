import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { ReservedSQL, SQL } from "bun";
import { readPostgresUrl } from "../../src/db/postgres/connection.ts";
import { openPostgres } from "../../src/db/postgres/database.ts";
import { laterIndexes } from "../../src/db/postgres/indexes.ts";
import { MIGRATIONS } from "../../src/db/postgres/migrate.ts";
import { createEmptyDatabase, type TestDatabase } from "../support/test-database.ts";
import { until } from "../support/until.ts";
import { migrateTo } from "./old-database.ts";
import { fillReceipts, startOldReplica } from "./old-replicas.ts";

const RECEIPTS = 20_000;
/** `bun run upgrade:rolling` migrates a million. */
const RECEIPTS_OF_EACH_SCHEMA = 2_000;

let database: TestDatabase;
let admin: SQL;

beforeEach(async () => {
  database = await createEmptyDatabase();
  admin = readPostgresUrl(database.url)({ max: 4 });
});

afterEach(async () => {
  await admin.close({ timeout: 0 });
  await database.drop();
});

async function prepareOld(schema: number, receipts = RECEIPTS): Promise<void> {
  await migrateTo(admin, schema, Date.now());
  await fillReceipts(admin, receipts, Date.now());
}

/** Every index of an empty new database, with the definitions of its partitions, must be there and valid. */
async function expectCurrent(): Promise<void> {
  expect([...(await admin.unsafe("SELECT version FROM schema_version"))]).toEqual([
    { version: MIGRATIONS.length },
  ]);
  const invalid = await admin.unsafe("SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid");
  expect([...invalid]).toEqual([]);
  for (const { name } of laterIndexes(MIGRATIONS)) {
    const [row] = await admin.unsafe("SELECT to_regclass($1) IS NOT NULL AS is_there", [name]);
    expect([name, row.is_there]).toEqual([name, true]);
  }
  const bare =
    await admin.unsafe(`SELECT inhrelid::regclass FROM pg_inherits p WHERE inhparent = 'holds'::regclass
    AND (SELECT count(*) FROM pg_index WHERE indrelid = inhrelid) <>
      (SELECT count(*) FROM pg_index WHERE indrelid = 'holds'::regclass)`);
  expect([...bare]).toEqual([]);
}

async function openAndClose(): Promise<void> {
  const opened = await openPostgres(database.url);
  await opened.close();
}

const LANDED = Array.from({ length: MIGRATIONS.length - 2 }, (_, index) => index + 2);

describe("two new replicas that start together, while two old ones serve,", () => {
  test.each(LANDED)(
    "migrate a database of schema %d, and no transaction of the old ones fails",
    async (schema) => {
      await prepareOld(schema, RECEIPTS_OF_EACH_SCHEMA);
      const old = ["one", "two"].map((name) => startOldReplica(database.url, name));
      try {
        await Promise.all([openAndClose(), openAndClose()]);
      } finally {
        for (const replica of old) expect((await replica.stop()).errors).toEqual([]);
      }
      await expectCurrent();
    },
  );
});

test("a migrator that is killed at any moment leaves a database that the next one completes", async () => {
  await prepareOld(3);
  const old = startOldReplica(database.url, "one");
  const start = () =>
    Bun.spawn([process.execPath, join(import.meta.dir, "open-child.ts"), database.url], {
      stdout: "ignore",
      stderr: "inherit",
    });
  let lifeMs = 50;
  for (let child = start(); ; child = start(), lifeMs += 40) {
    const ended = await Promise.race([child.exited, Bun.sleep(lifeMs)]);
    if (ended === 0) break;
    child.kill("SIGKILL");
    await child.exited;
  }
  expect((await old.stop()).errors).toEqual([]);
  await openAndClose();
  await expectCurrent();
});

test("an index whose build was cut off is dropped and built again", async () => {
  await prepareOld(5);
  const writer = await admin.reserve();
  await writer.unsafe("BEGIN");
  await writer.unsafe("INSERT INTO transfers VALUES ('w', 1, 'a', 2, 1, 2, 1, 1, NULL, 1)");
  const opening = openAndClose().then(
    () => "opened",
    () => "failed",
  );
  const isInvalid = async () => {
    const [row] = await admin.unsafe(
      "SELECT indisvalid AS is_valid FROM pg_index WHERE indexrelid = to_regclass('transfers_in')",
    );
    return row?.is_valid === false;
  };
  await until(isInvalid);
  await admin.unsafe(
    // Of this database alone: other tests build indexes on the same server.
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query ~ '^CREATE INDEX CONC'",
  );
  expect(await opening).toBe("failed");
  expect(await isInvalid()).toBe(true);
  await writer.unsafe("COMMIT");
  writer.release();
  await openAndClose();
  await expectCurrent();
});

test("a migration that waits for several tables in turn fails no request that waits for its first one", async () => {
  await prepareOld(11, 1);
  const open = async (table: string) => {
    const transaction = await admin.reserve();
    await transaction.unsafe("BEGIN");
    await transaction.unsafe(`SELECT 1 FROM ${table} LIMIT 1`);
    return transaction;
  };
  const commit = async (transaction: ReservedSQL) => {
    await transaction.unsafe("COMMIT");
    transaction.release();
  };
  const readers = [await open("holds"), await open("usage_days")] as const;
  const request = await open("usage_hours");
  let isAnswered = false;
  /** Waits for a wait of the migration. An answer leaves nothing to wait for. */
  const waitsFor = (table: string, ms: number) =>
    until(async () => {
      const waits = await admin.unsafe(
        `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE datname = current_database()
          AND relation = '${table}'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted
          AND clock_timestamp() - query_start > '${ms} ms'`,
      );
      return isAnswered || waits.length > 0;
    });
  const opening = openAndClose();
  await waitsFor("holds", 0);
  // The migration has locked the accounts.
  const answered = request
    .unsafe("SELECT 1 FROM accounts LIMIT 1")
    .then(() => "answered", String)
    .finally(() => {
      isAnswered = true;
    });
  await waitsFor("holds", 400);
  await commit(readers[0]);
  await waitsFor("usage_days", 400);
  await commit(readers[1]);
  expect(await answered).toBe("answered");
  await commit(request);
  await opening;
  await expectCurrent();
});

test("a long read delays a migration, and requests are answered meanwhile", async () => {
  await prepareOld(3);
  const reader = await admin.reserve();
  await reader.unsafe("BEGIN");
  await reader.unsafe("SELECT count(*) FROM holds");
  const opening = openAndClose();
  const old = startOldReplica(database.url, "one");
  const versions = async () => (await admin.unsafe("SELECT version FROM schema_version"))[0].version;
  await until(async () => (await versions()) > 3);
  await Bun.sleep(3_000);
  await until(() => old.answered() > 20);
  expect((await old.stop()).errors).toEqual([]);
  expect(await versions()).toBeLessThan(MIGRATIONS.length);
  await reader.unsafe("COMMIT");
  reader.release();
  await opening;
  await expectCurrent();
});
