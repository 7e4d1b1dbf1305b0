import { SQLiteError } from "bun:sqlite";
import type { InferInsertModel, InferSelectModel, Table } from "drizzle-orm";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import type { DatabaseLocation } from "./location.ts";
import type * as postgresConsole from "./postgres/console-schema.ts";
import type { PostgresDatabase } from "./postgres/database.ts";
import type * as postgresPeople from "./postgres/people-schema.ts";
import type * as postgresSchema from "./postgres/schema.ts";
import * as consoleTables from "./sqlite/console-schema.ts";
import { connect, openDatabase, type SqliteDatabase } from "./sqlite/database.ts";
import * as peopleTables from "./sqlite/people-schema.ts";
import { accounts, apiKeys, gateways, instance } from "./sqlite/schema.ts";

/** The tables outside the ledger. */
const TABLES = { accounts, apiKeys, gateways, instance, ...peopleTables, ...consoleTables };
type Tables = typeof TABLES;

type PostgresTables = Pick<typeof postgresSchema, "accounts" | "apiKeys" | "gateways" | "instance"> &
  typeof postgresPeople &
  typeof postgresConsole;

/** Query builders of both dialects. */
export type Db = Pick<BunSQLiteDatabase, "select" | "insert" | "update" | "delete">;

interface Queries {
  /** For awaited queries, prepared ones included: `all`, `get` and `run` exist for SQLite only. */
  readonly db: Db;
  readonly tables: Tables;
  readonly transact: Transact<Db>;
  /** Resolves when the database answers a query. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** An open database of either dialect: queries for both, and the connection for the ledger of its dialect. */
export type Database =
  | (Queries & { readonly dialect: "sqlite"; readonly sqlite: SqliteDatabase })
  | (Queries & { readonly dialect: "postgres"; readonly postgres: PostgresDatabase });

/** Opens a database and migrates it. Rejects when it cannot be used, or a newer program migrated it. */
export async function connectDatabase(location: DatabaseLocation): Promise<Database> {
  if (location.dialect === "sqlite") return overSqlite(openDatabase(location.path));
  const [{ openPostgres }, { accounts, apiKeys, gateways, instance }, people, others] = await Promise.all([
    import("./postgres/database.ts"),
    import("./postgres/schema.ts"),
    import("./postgres/people-schema.ts"),
    import("./postgres/console-schema.ts"),
  ]);
  const tables = { accounts, apiKeys, gateways, instance, ...people, ...others };
  return overPostgres(await openPostgres(location.url, () => location.url), tables);
}

function overSqlite(sqlite: SqliteDatabase): Database {
  const transact = createSqliteTransact(sqlite.path);
  return {
    dialect: "sqlite",
    sqlite,
    db: sqlite.db,
    tables: TABLES,
    transact,
    ping: async () => void sqlite.client.query("SELECT 1").get(),
    async close() {
      await transact.close();
      sqlite.close();
    },
  };
}

/** The rows that a dialect reads and writes, by table. */
type Rows<Tables extends Record<string, Table>> = {
  readonly [Name in keyof Tables]: readonly [InferSelectModel<Tables[Name]>, InferInsertModel<Tables[Name]>];
};

/** `never`, so that nothing is assignable, unless the rows of both dialects are equal. */
type TablesWithEqualRows = [Rows<Tables>, Rows<PostgresTables>] extends [Rows<PostgresTables>, Rows<Tables>]
  ? PostgresTables
  : never;

/**
 * The only place that casts PostgreSQL to SQLite. Both query builders of Drizzle have the methods that
 * accounts, keys and gateways use, and both are awaitable. The compiler checks that the rows are equal.
 */
function overPostgres(postgres: PostgresDatabase, tables: TablesWithEqualRows): Database {
  return {
    dialect: "postgres",
    postgres,
    db: postgres.db as unknown as Queries["db"],
    tables: tables as unknown as Tables,
    transact: (work) => postgres.db.transaction((tx) => work(tx as unknown as Db)),
    ping: async () => void (await postgres.client.unsafe("SELECT 1")),
    close: () => postgres.close(),
  };
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
  const deadline = performance.now() + WAIT_MS_MAX;
  for (;;) {
    try {
      begin();
      return;
    } catch (error) {
      const isBusy = error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY");
      if (!isBusy || performance.now() > deadline) throw error;
      await Bun.sleep(RETRY_MS);
    }
  }
}
