import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";
import type { DatabaseLocation } from "./location.ts";
import type { PostgresDatabase } from "./postgres/database.ts";
import type {
  accounts as postgresAccounts,
  apiKeys as postgresApiKeys,
  gateways as postgresGateways,
} from "./postgres/schema.ts";
import { openDatabase, type SqliteDatabase } from "./sqlite/database.ts";
import { accounts, apiKeys, gateways } from "./sqlite/schema.ts";

/** The tables outside the ledger. */
interface Tables {
  readonly accounts: typeof accounts;
  readonly apiKeys: typeof apiKeys;
  readonly gateways: typeof gateways;
}

interface Queries {
  /** For queries that are awaited: `all`, `get`, `run` and `prepare` are SQLite's alone. */
  readonly db: Pick<BunSQLiteDatabase, "select" | "insert" | "update" | "delete">;
  readonly tables: Tables;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** An open database of either dialect, for queries that are written once, and for the ledger of its own dialect. */
export type Database =
  | (Queries & { readonly dialect: "sqlite"; readonly sqlite: SqliteDatabase })
  | (Queries & { readonly dialect: "postgres"; readonly postgres: PostgresDatabase });

/** Opens a database and brings its schema up to date. Rejects when it cannot be used or is newer than this program. */
export async function connectDatabase(location: DatabaseLocation): Promise<Database> {
  if (location.dialect === "sqlite") return overSqlite(openDatabase(location.path));
  const [{ openPostgres }, schema] = await Promise.all([
    import("./postgres/database.ts"),
    import("./postgres/schema.ts"),
  ]);
  return overPostgres(await openPostgres(location.url), schema);
}

function overSqlite(sqlite: SqliteDatabase): Database {
  return {
    dialect: "sqlite",
    sqlite,
    db: sqlite.db,
    tables: { accounts, apiKeys, gateways },
    ping: async () => void sqlite.client.query("SELECT 1").get(),
    close: async () => sqlite.close(),
  };
}

/** What is read and written of a dialect's rows. Spelled out, because Drizzle infers them from the very table. */
interface SqliteRows {
  readonly account: typeof accounts.$inferSelect;
  readonly newAccount: typeof accounts.$inferInsert;
  readonly key: typeof apiKeys.$inferSelect;
  readonly newKey: typeof apiKeys.$inferInsert;
  readonly gateway: typeof gateways.$inferSelect;
  readonly newGateway: typeof gateways.$inferInsert;
}

interface PostgresRows {
  readonly account: typeof postgresAccounts.$inferSelect;
  readonly newAccount: typeof postgresAccounts.$inferInsert;
  readonly key: typeof postgresApiKeys.$inferSelect;
  readonly newKey: typeof postgresApiKeys.$inferInsert;
  readonly gateway: typeof postgresGateways.$inferSelect;
  readonly newGateway: typeof postgresGateways.$inferInsert;
}

interface PostgresTables {
  readonly accounts: typeof postgresAccounts;
  readonly apiKeys: typeof postgresApiKeys;
  readonly gateways: typeof postgresGateways;
}

/** `never`, which nothing is, unless the rows of both dialects are equal. */
type TablesWithEqualRows = [SqliteRows, PostgresRows] extends [PostgresRows, SqliteRows]
  ? PostgresTables
  : never;

/**
 * The one place where PostgreSQL passes for SQLite. Both of Drizzle's builders have the same verbs for what
 * accounts, keys and gateways ask, and both can be awaited; that the rows are the same is checked by the compiler here.
 */
function overPostgres(postgres: PostgresDatabase, tables: TablesWithEqualRows): Database {
  return {
    dialect: "postgres",
    postgres,
    db: postgres.db as unknown as Queries["db"],
    tables: tables as unknown as Tables,
    ping: async () => void (await postgres.client.unsafe("SELECT 1")),
    close: () => postgres.close(),
  };
}
