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
  /** For awaited queries, prepared ones included: `all`, `get` and `run` exist for SQLite only. */
  readonly db: Pick<BunSQLiteDatabase, "select" | "insert" | "update" | "delete">;
  readonly tables: Tables;
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

/** The row types of a dialect. Listed one by one, because Drizzle infers each from its own table. */
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

/** `never`, so that nothing is assignable, unless the rows of both dialects are equal. */
type TablesWithEqualRows = [SqliteRows, PostgresRows] extends [PostgresRows, SqliteRows]
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
    ping: async () => void (await postgres.client.unsafe("SELECT 1")),
    close: () => postgres.close(),
  };
}
