import { expect, test } from "bun:test";
import { join } from "node:path";
import type { SQL } from "bun";
import { openPostgres } from "../../src/db/postgres/database.ts";
import { openDatabase } from "../../src/db/sqlite/database.ts";
import { type AuditReport, auditPostgres, auditSqlite } from "../../src/ledger/audit/audit.ts";
import type { SweptLedger } from "../../src/ledger/engine/local.ts";
import { createPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { createTestDatabase } from "../support/postgres-server.ts";
import { openLedger, temporaryFolder, WALLET } from "./samples.ts";

const FUNDS = 10_000_000n;
const WORKERS = 32;
const PROCESSES = ["a", "b", "c", "d", "e", "f", "g", "h"];

/** A database that several processes share. */
interface SharedBooks {
  readonly url: string;
  readonly ledger: SweptLedger;
  audit(): Promise<AuditReport>;
  /** Transactions that the database broke off because they waited for each other. */
  deadlocks(): Promise<number>;
  close(): Promise<void>;
}

async function shareSqlite(): Promise<SharedBooks> {
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

async function sharePostgres(): Promise<SharedBooks> {
  const { url, drop } = await createTestDatabase();
  const database = await openPostgres(url);
  await notice(database.client, "20ms");
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
 * Lets the server look for deadlocks long before the ledger gives up a lock, or it would never count one.
 * Only a superuser may ask for that, which on a private server we are.
 */
async function notice(client: SQL, after: string): Promise<void> {
  const [row] =
    await client`SELECT current_setting('is_superuser') AS is_superuser, current_database() AS name`;
  if (row.is_superuser === "on")
    await client.unsafe(`ALTER DATABASE ${row.name} SET deadlock_timeout = '${after}'`);
}

interface Load {
  readonly rounds: number;
  readonly wallets: readonly string[];
}

/** A load process that is open and waits to be told to go. */
async function prepareLoad(url: string, name: string, { rounds, wallets }: Load) {
  const child = `${import.meta.dir}/load-child.ts`;
  const command = [process.execPath, child, url, name, `${rounds}`, wallets.join(",")];
  const ready = Promise.withResolvers<unknown>();
  const load = Bun.spawn(command, { stdout: "pipe", stderr: "inherit", ipc: ready.resolve });
  await Promise.race([ready.promise, load.exited]);
  // Read from the start: a pipe that is full would stop the process.
  const said = new Response(load.stdout).text();
  return { load, said, go: () => load.send("go") };
}

async function fund(ledger: SweptLedger, wallets: readonly string[]): Promise<void> {
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
  "eight processes on %s of %s lose nothing, book nothing twice, and never wait for each other for ever",
  async (_, __, share, load) => {
    const books = await share();
    await fund(books.ledger, load.wallets);
    const loads = await Promise.all(PROCESSES.map((name) => prepareLoad(books.url, name, load)));
    for (const { go } of loads) go();
    const exits = await Promise.all(loads.map(({ load: { exited } }) => exited));
    expect(exits).toEqual(PROCESSES.map(() => 0));

    const settledEach = BigInt(PROCESSES.length * WORKERS * load.rounds);
    const spent = { posted: FUNDS - 2n * settledEach, held: 0n };
    for (const walletId of load.wallets) expect(await books.ledger.balances(walletId)).toMatchObject(spent);
    const holds = Number(settledEach) * load.wallets.length;
    expect(await books.audit()).toMatchObject({ holds, findings: [], warnings: [] });
    expect(await books.deadlocks()).toBe(0);
    await books.close();
  },
);

test("what a killed process had acknowledged is all there, and the books are right", async () => {
  const open = await openLedger(FUNDS);
  const { path, client } = open.database;
  const { load, said, go } = await prepareLoad(`sqlite:${path}`, "k", {
    rounds: 1_000_000,
    wallets: [WALLET],
  });
  const settled = () => client.query("SELECT 1 FROM holds WHERE state = 'settled' LIMIT 1 OFFSET 2000").get();
  go();
  while (settled() === null) await Bun.sleep(5);
  load.kill("SIGKILL");
  await load.exited;

  // What follows the last line feed was cut off by the kill.
  const lines = (await said).split("\n").slice(0, -1);
  const rows = client.query<{ hold_id: string; state: string }, []>("SELECT hold_id, state FROM holds").all();
  const states = new Map(rows.map((row) => [row.hold_id, row.state]));
  const missing = lines.filter((line) => {
    const [what, holdId = ""] = line.split(" ");
    return what === "settled" ? states.get(holdId) !== "settled" : !states.has(holdId);
  });
  expect(lines.length).toBeGreaterThan(100);
  expect(missing).toEqual([]);
  expect((await auditSqlite(open.database, Date.now())).findings).toEqual([]);
  await open.close();
});
