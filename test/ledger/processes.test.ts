import { expect, test } from "bun:test";
import { join } from "node:path";
import type { SQL } from "bun";
import { openPostgres } from "../../src/db/postgres/database.ts";
import { openDatabase } from "../../src/db/sqlite/database.ts";
import { type AuditReport, auditPostgres, auditSqlite } from "../../src/ledger/audit/audit.ts";
import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import { createPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { openLedger, temporaryFolder, WALLET } from "./samples.ts";

const FUNDS = 10_000_000n;
const WORKERS = 32;
const PROCESSES = ["a", "b", "c", "d", "e", "f", "g", "h"];

/** A database that several processes share. */
interface SharedLedger {
  readonly url: string;
  readonly ledger: LocalLedger;
  audit(): Promise<AuditReport>;
  /** The number of deadlocks that the database has detected. */
  deadlocks(): Promise<number>;
  close(): Promise<void>;
}

async function shareSqlite(): Promise<SharedLedger> {
  const folder = temporaryFolder();
  const database = openDatabase(join(folder.path, "ledger.db"));
  const ledger = createSqliteLedger({ database });
  return {
    url: `sqlite:${database.path}`,
    ledger,
    audit: () => auditSqlite(database, Date.now()),
    deadlocks: async () => 0,
    async close() {
      await ledger.close();
      database.close();
      folder.remove();
    },
  };
}

async function sharePostgres(): Promise<SharedLedger> {
  const { url, drop } = await createTestDatabase();
  const database = await openPostgres(url);
  await setDeadlockTimeout(database.client, "20ms");
  const ledger = createPostgresLedger({ database });
  return {
    url,
    ledger,
    audit: () => auditPostgres(database, Date.now()),
    async deadlocks() {
      const [row] = await database.client`
        SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`;
      return Number(row.deadlocks);
    },
    async close() {
      await ledger.close();
      await database.close();
      await drop();
    },
  };
}

/**
 * Makes the server check for deadlocks before the ledger's lock timeout; otherwise it would never count one.
 * Only a superuser may set this.
 */
async function setDeadlockTimeout(client: SQL, after: string): Promise<void> {
  const [row] =
    await client`SELECT current_setting('is_superuser') AS is_superuser, current_database() AS name`;
  if (row.is_superuser === "on")
    await client.unsafe(`ALTER DATABASE ${row.name} SET deadlock_timeout = '${after}'`);
}

interface Load {
  readonly rounds: number;
  readonly wallets: readonly string[];
}

/** Starts a load process. It has opened the ledger, and begins its load when `start` is called. */
async function prepareLoad(url: string, name: string, { rounds, wallets }: Load) {
  const child = `${import.meta.dir}/load-child.ts`;
  const command = [process.execPath, child, url, name, `${rounds}`, wallets.join(",")];
  const ready = Promise.withResolvers<unknown>();
  const load = Bun.spawn(command, { stdout: "pipe", stderr: "inherit", ipc: ready.resolve });
  await Promise.race([ready.promise, load.exited]);
  // Read from the start: a full pipe would block the process.
  const output = new Response(load.stdout).text();
  return { load, output, start: () => load.send("start") };
}

async function fund(ledger: LocalLedger, wallets: readonly string[]): Promise<void> {
  for (const walletId of wallets) {
    await ledger.createWallet(walletId);
    await ledger.topUp({ walletId, topUpId: "funds", amount: FUNDS });
    const limit = { walletId, limitId: "l1", keyId: "k1", period: "day", amount: FUNDS } as const;
    await ledger.setSpendLimit(limit);
  }
}

const STORES = [
  ["a SQLite file", shareSqlite],
  ["a PostgreSQL database", sharePostgres],
] as const;
const LOADS = [
  ["one wallet", { rounds: 15, wallets: [WALLET] }],
  ["shuffled wallets", { rounds: 2, wallets: Array.from({ length: 20 }, (_, i) => `wallet-${i}`) }],
] as const;

test.each(STORES.flatMap(([store, share]) => LOADS.map(([on, load]) => [on, store, share, load] as const)))(
  "eight processes on %s of %s lose no command, book none twice, and never deadlock",
  async (_, __, share, load) => {
    const shared = await share();
    await fund(shared.ledger, load.wallets);
    const loads = await Promise.all(PROCESSES.map((name) => prepareLoad(shared.url, name, load)));
    for (const { start } of loads) start();
    const exits = await Promise.all(loads.map(({ load: { exited } }) => exited));
    expect(exits).toEqual(PROCESSES.map(() => 0));

    const settledEach = BigInt(PROCESSES.length * WORKERS * load.rounds);
    const spent = { posted: FUNDS - 2n * settledEach, held: 0n };
    for (const walletId of load.wallets) expect(await shared.ledger.balances(walletId)).toMatchObject(spent);
    const holds = Number(settledEach) * load.wallets.length;
    expect(await shared.audit()).toMatchObject({ holds, findings: [], warnings: [] });
    expect(await shared.deadlocks()).toBe(0);
    await shared.close();
  },
);

test("every command that a killed process acknowledged is stored, and the audit finds nothing", async () => {
  const open = await openLedger(FUNDS);
  const { path, client } = open.database;
  const { load, output, start } = await prepareLoad(`sqlite:${path}`, "k", {
    rounds: 1_000_000,
    wallets: [WALLET],
  });
  const settled = () => client.query("SELECT 1 FROM holds WHERE state = 'settled' LIMIT 1 OFFSET 2000").get();
  start();
  while (settled() === null) await Bun.sleep(5);
  load.kill("SIGKILL");
  await load.exited;

  // The kill may have cut off the last line.
  const lines = (await output).split("\n").slice(0, -1);
  const rows = client.query<{ hold_id: string; state: string }, []>("SELECT hold_id, state FROM holds").all();
  const states = new Map(rows.map((row) => [row.hold_id, row.state]));
  const missing = lines.filter((line) => {
    const [state, holdId = ""] = line.split(" ");
    return state === "settled" ? states.get(holdId) !== "settled" : !states.has(holdId);
  });
  expect(lines.length).toBeGreaterThan(100);
  expect(missing).toEqual([]);
  expect((await auditSqlite(open.database, Date.now())).findings).toEqual([]);
  await open.close();
});
