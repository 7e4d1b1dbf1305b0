import type { InferInsertModel, InferSelectModel, Table } from "drizzle-orm";
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";
import type { DatabaseLocation } from "./location.ts";
import type * as postgresConsole from "./postgres/console-schema.ts";
import type { PostgresDatabase } from "./postgres/database.ts";
import type * as postgresPeople from "./postgres/people-schema.ts";
import type * as postgresSchema from "./postgres/schema.ts";
import * as consoleTables from "./sqlite/console-schema.ts";
import { openDatabase, type SqliteDatabase } from "./sqlite/database.ts";
import * as peopleTables from "./sqlite/people-schema.ts";
import { accounts, apiKeys, gateways, instance } from "./sqlite/schema.ts";
import { createSqliteTransact, type Transact } from "./transact.ts";

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
