import { SQLiteError } from "bun:sqlite";
import { type AnyColumn, type SQL, sql } from "drizzle-orm";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { platform } from "../platform.ts";
import type { DatabaseLocation } from "./location.ts";
import type { PostgresDatabase } from "./postgres/database.ts";
import type { MasterKey } from "./sealing.ts";
import { declareTables, SQLITE_COLUMNS } from "./sqlite/columns.ts";
import { connect, openDatabase, type SqliteDatabase } from "./sqlite/database.ts";
import * as accountTables from "./tables/accounts.ts";
import * as consoleTables from "./tables/console.ts";
import * as paymentTables from "./tables/payments.ts";
import * as peopleTables from "./tables/people.ts";
import * as planTables from "./tables/plans.ts";
import * as recordingTables from "./tables/recordings.ts";
import * as signInTables from "./tables/sign-in-ways.ts";

const DECLARED = {
  ...accountTables,
  ...peopleTables,
  ...signInTables,
  ...consoleTables,
  ...paymentTables,
  ...planTables,
  ...recordingTables,
};
const SQLITE_TABLES = declareTables(DECLARED, SQLITE_COLUMNS);

/** The tables outside the ledger, of either dialect. */
export type Tables = typeof SQLITE_TABLES;

/** Query builders of both dialects. */
export type Db = Pick<BunSQLiteDatabase, "select" | "insert" | "update" | "delete">;

interface Queries {
  /** For awaited queries, prepared ones included: `all`, `get` and `run` exist for SQLite only. */
  readonly db: Db;
  readonly tables: Tables;
  readonly transact: Transact<Db>;
  /** The keys that seal what a dump of the database must not show: the first one encrypts. */
  readonly masterKeys: () => readonly MasterKey[];
  /** Resolves when the database answers a query. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** An open database of either dialect: queries for both, and the connection for the ledger of its dialect. */
export type Database =
  | (Queries & { readonly dialect: "sqlite"; readonly sqlite: SqliteDatabase })
  | (Queries & { readonly dialect: "postgres"; readonly postgres: PostgresDatabase });

/** A database, and the clock of those who use it, in Unix milliseconds. */
export interface DatabaseParts {
  readonly database: Database;
  readonly now: () => number;
}

/** Opens a database and migrates it. Rejects when it cannot be used, or a newer program migrated it. */
export async function connectDatabase(
  location: DatabaseLocation,
  masterKeys: Database["masterKeys"] = () => [],
): Promise<Database> {
  if (location.dialect === "sqlite") return overSqlite(openDatabase(location.path), masterKeys);
  const [{ openPostgres }, { POSTGRES_COLUMNS }] = await Promise.all([
    import("./postgres/database.ts"),
    import("./postgres/columns.ts"),
  ]);
  const postgres = await openPostgres(location.url, () => location.url);
  return overPostgres(postgres, declareTables(DECLARED, POSTGRES_COLUMNS), masterKeys);
}

function overSqlite(sqlite: SqliteDatabase, masterKeys: Database["masterKeys"]): Database {
  const transact = createSqliteTransact(sqlite.path);
  return {
    dialect: "sqlite",
    sqlite,
    db: sqlite.db,
    tables: SQLITE_TABLES,
    masterKeys,
    transact,
    ping: async () => void sqlite.client.query("SELECT 1").get(),
    async close() {
      await transact.close();
      sqlite.close();
    },
  };
}

function overPostgres(
  postgres: PostgresDatabase,
  tables: Tables,
  masterKeys: Database["masterKeys"],
): Database {
  const { client, db, transact, close } = postgres;
  const ping = async () => void (await client.unsafe("SELECT 1"));
  return { dialect: "postgres", postgres, db, tables, masterKeys, transact, ping, close };
}

/** The values that {@link isInList} compares with, in a prepared query. */
const LIST = "list";

/** The condition that a column has one of the texts of {@link listOf}. The query is prepared once for all lists. */
export function isInList({ dialect }: Pick<Database, "dialect">, column: AnyColumn): SQL {
  const list = sql.placeholder(LIST);
  return dialect === "postgres"
    ? sql`${column} = ANY(${list}::text[])`
    : sql`${column} IN (SELECT value FROM json_each(${list}))`;
}

/** The parameters of a prepared query with {@link isInList}. The texts must be of letters, digits and hyphens. */
export function listOf({ dialect }: Pick<Database, "dialect">, texts: readonly string[]): { list: string } {
  return { [LIST]: dialect === "postgres" ? `{${texts.join()}}` : JSON.stringify(texts) };
}

/**
 * Runs queries in one transaction, which is rolled back when `work` rejects. `work` must await queries of its
 * own `tx` only: SQLite's only write lock is held until it ends.
 */
type Transact<Tx> = <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result>;

/** How long a transaction waits for the lock before it rejects. */
const WAIT_MS_MAX = 5_000;
const RETRY_MS = 5;

/**
 * Transactions of SQLite, one at a time, on a connection of their own. Drizzle's own transactions of
 * bun:sqlite commit before an asynchronous callback ends. The event loop never waits for the lock.
 */
function createSqliteTransact(path: string): Transact<BunSQLiteDatabase> & { close(): Promise<void> } {
  let connection: { client: ReturnType<typeof connect>; db: BunSQLiteDatabase } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const open = () => {
    const client = connect(path, 0);
    connection = { client, db: drizzle(client) };
    return connection;
  };

  const run = async <Result>(work: (tx: BunSQLiteDatabase) => Promise<Result>): Promise<Result> => {
    const { client, db } = connection ?? open();
    await retryWhileBusy(() => client.run("BEGIN IMMEDIATE"));
    try {
      const result = await work(db);
      client.run("COMMIT");
      return result;
    } catch (error) {
      if (client.inTransaction) client.run("ROLLBACK");
      throw error;
    }
  };

  const transact = <Result>(work: (tx: BunSQLiteDatabase) => Promise<Result>): Promise<Result> => {
    const running = last.then(() => run(work));
    last = running.catch(() => undefined);
    return running;
  };
  const close = async () => {
    await last;
    connection?.client.close();
  };
  return Object.assign(transact, { close });
}

async function retryWhileBusy(begin: () => void): Promise<void> {
  const deadline = platform.monotonicMs() + WAIT_MS_MAX;
  for (;;) {
    try {
      begin();
      return;
    } catch (error) {
      const isBusy = error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY");
      if (!isBusy || platform.monotonicMs() > deadline) throw error;
      await platform.sleep(RETRY_MS);
    }
  }
}
