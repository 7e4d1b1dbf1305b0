// Two ledgers whose time is that of PostgreSQL, while its clock jumps to years without a partition.

import { afterEach, beforeEach, expect, test } from "bun:test";
import type { SQL } from "bun";
import { openPostgres, type PostgresDatabase } from "../../src/db/postgres/database.ts";
import { ensurePartitions, listPartitions } from "../../src/db/postgres/partitions.ts";
import { DAY_MS } from "../../src/domain/id-time.ts";
import { auditPostgres } from "../../src/ledger/audit/audit.ts";
import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import { createPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { FACTS, holdIdOf, holdOf, WALLET } from "../ledger/samples.ts";
import { type DatabaseClock, startDatabaseClock } from "../support/database-clock.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { until } from "../support/until.ts";
import { type ScriptedClock, startScriptedClock } from "./scripted-clock.ts";

const MONTH_END_MS = Date.UTC(2026, 6, 1) - 1;
const YEARS_LATER_MS = Date.UTC(2031, 6, 1) - 1;
const FUNDS = 1_000_000n;
/** A ledger tries again for longer than a busy machine holds it up. */
const BUSY_MS = 60_000;

interface Process {
  readonly database: PostgresDatabase;
  readonly ledger: LocalLedger;
}

let clock: ScriptedClock;
let databaseClock: DatabaseClock;
let processes: readonly [Process, Process];
let drop: () => Promise<void>;

beforeEach(async () => {
  const books = await createTestDatabase();
  drop = books.drop;
  databaseClock = await startDatabaseClock(books.url);
  clock = startScriptedClock(MONTH_END_MS);
  await clock.follow(databaseClock.setTo);
  processes = [await startProcess(books.url), await startProcess(books.url)];
  const [{ ledger }] = processes;
  await ledger.createWallet(WALLET);
  await ledger.topUp({ walletId: WALLET, topUpId: "funds", amount: FUNDS });
});

afterEach(async () => {
  const [{ database }] = processes;
  const { findings } = await auditPostgres(database, Date.now());
  clock.end();
  for (const each of processes) {
    await each.ledger.close();
    await each.database.close();
  }
  await databaseClock.close();
  await drop();
  expect(findings).toEqual([]);
});

async function startProcess(url: string): Promise<Process> {
  const database = await openPostgres(url);
  return { database, ledger: createPostgresLedger({ database, busyMaxMs: BUSY_MS }) };
}

/** Holds and settles in both ledgers, several requests at a time, until `done`. Returns how many there were. */
async function serveUntil(done: Promise<unknown>): Promise<number> {
  let isDone = false;
  let count = 0;
  const end = done.finally(() => {
    isDone = true;
  });
  const serve = async ({ ledger }: Process) => {
    while (!isDone) {
      count += 1;
      const holdId = Bun.randomUUIDv7("hex", Date.now());
      await ledger.hold(holdOf(10n, { holdId }));
      await ledger.settle({ walletId: WALLET, holdId, amount: 1n, facts: FACTS });
    }
  };
  await Promise.all([end, ...processes.flatMap((each) => [serve(each), serve(each), serve(each)])]);
  return count;
}

test("requests go on in months without a partition, and while their holds move to a new one", async () => {
  const [{ ledger, database }, other] = processes;
  let count = 0;
  for (const jumpToMs of [MONTH_END_MS + 1, YEARS_LATER_MS]) {
    // A request whose id was made before a jump of more than a day would be refused.
    await clock.passTo(jumpToMs);
    count += await serveUntil(Bun.sleep(50));
    count += await serveUntil(Promise.all([ledger.sweep(), other.ledger.sweep(), Bun.sleep(50)]));
  }
  expect(await ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - BigInt(count), held: 0n });
  // A new month without requests, whose locks might have kept the partitions of the last one from being made.
  await clock.passTo(YEARS_LATER_MS + 1);
  await ledger.sweep();
  const months = (await listPartitions(database.client)).map(({ name }) => name);
  expect(months).toEqual(expect.arrayContaining(["holds_2026_07", "holds_2031_06", "holds_2031_09"]));
  expect(await database.client.unsafe("SELECT 1 FROM holds_default LIMIT 1")).toHaveLength(0);
});

test("a hold that moves to a new partition is found by a process that plans its first settlement meanwhile", async () => {
  const [{ ledger, database }] = processes;
  await clock.passTo(YEARS_LATER_MS);
  const isMoved = async () =>
    (await listPartitions(database.client)).some(({ name }) => name === "holds_2031_06");
  // A move gives up after 250 ms without its locks, and a busy machine may need longer to reach the settlement.
  while (!(await isMoved())) {
    const holdId = Bun.randomUUIDv7("hex", Date.now());
    await ledger.hold(holdOf(10n, { holdId }));
    const fresh = createPostgresLedger({ database, busyMaxMs: BUSY_MS });
    const ends = await database.client.begin(async (reader) => {
      await reader.unsafe("LOCK TABLE ONLY holds_default IN ACCESS SHARE MODE");
      // The month before, which is the one of the hold, gets its partition first.
      const move = ensurePartitions(database.client, Date.now() + DAY_MS);
      await until(async () => (await waitsFor(reader)) > 0);
      const settled = fresh.settle({ walletId: WALLET, holdId, amount: 1n, facts: FACTS });
      await Promise.race([move, until(async () => (await waitsFor(reader)) > 1)]);
      return { move, settled: settled.then(() => "settled", String) };
    });
    expect(await ends.settled).toBe("settled");
    await ends.move;
    await fresh.close();
  }
});

/** Returns how many sessions wait for a lock of holds or of their default partition. */
async function waitsFor(client: SQL): Promise<number> {
  // Copies of one template, which other tests use at the same time, have equal ids of relations.
  const [row] = await client.unsafe(
    `SELECT count(*)::integer AS waits FROM pg_locks
      WHERE NOT granted AND relation IN ('holds'::regclass, 'holds_default'::regclass)
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return row.waits;
}

test("a clock of the database that is set back leaves every hold its time to live", async () => {
  const [{ ledger }, other] = processes;
  const hold = (name: string, atMs: number) =>
    ledger.hold(holdOf(10n, { holdId: holdIdOf(name, atMs), ttlMs: 600_000 }));
  await databaseClock.setTo(MONTH_END_MS + DAY_MS / 2);
  await hold("ahead", MONTH_END_MS);
  await databaseClock.setTo(MONTH_END_MS);
  await hold("back", MONTH_END_MS);
  await other.ledger.settle({
    walletId: WALLET,
    holdId: holdIdOf("back", MONTH_END_MS),
    amount: 1n,
    facts: FACTS,
  });
  const receipt = await ledger.receipt(WALLET, holdIdOf("back", MONTH_END_MS));
  expect((receipt?.createdAtMs ?? 0) - MONTH_END_MS).toBeWithin(0, 600_000);
  // The sweep gives the hold of the wrong time its life from now on.
  expect([await ledger.sweep(), await other.ledger.sweep()]).toEqual([1, 0]);
  expect(await ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 1n, held: 10n });
  await databaseClock.setTo(MONTH_END_MS + 1_200_000);
  await other.ledger.sweep();
  expect(await ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 1n, held: 0n });
});
