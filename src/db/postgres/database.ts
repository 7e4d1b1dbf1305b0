import type { SQL } from "bun";
import { drizzle } from "drizzle-orm/bun-sql";
import type { SqliteDatabase } from "../sqlite/database.ts";
import { type ConnectOptions, readPostgresUrl } from "./connection.ts";
import { migrate } from "./migrate.ts";
import { ensurePartitions } from "./partitions.ts";
import { createWatchedPool } from "./watched-pool.ts";

/** Cast to the types of SQLite: the builders of both dialects have the methods in use, and all are awaitable. */
type QueryBuilders = Pick<SqliteDatabase["db"], "select" | "insert" | "update" | "delete">;

/**
 * A PostgreSQL database with the current schema. `client` and `db` share one small pool. It is replaced when
 * the server vanishes: its queries then reject, usually within 15 s and at most after 50 s.
 */
export interface PostgresDatabase {
  /** Returns 8-byte integers as bigint. */
  readonly client: SQL;
  readonly db: QueryBuilders;
  /** Runs queries in one transaction, which is rolled back when `work` rejects. */
  transact<Result>(work: (tx: QueryBuilders) => Promise<Result>): Promise<Result>;
  /** Opens further connections to this database. The caller must close them. */
  connect(options: ConnectOptions): SQL;
  close(): Promise<void>;
}

const POOL_MAX = 4;
/** The server cancels a query outside of the ledger's batches after this time. */
const POOL_SESSION = { statement_timeout: "30s", idle_in_transaction_session_timeout: "30s" };

/**
 * Connects, and migrates the schema under a lock that replicas share. Throws when the server cannot be
 * reached, its encoding is not UTF-8, or a newer program migrated the schema.
 *
 * Connections keep prepared statements and runtime parameters. A connection pooler must therefore use session
 * mode, and pass on the parameters of {@link ConnectOptions.session}. Later connections take the password of
 * `currentUrl`.
 */
export async function openPostgres(
  url: string,
  currentUrl: () => string = () => url,
): Promise<PostgresDatabase> {
  const connect = readPostgresUrl(url, currentUrl);
  await prepare(connect);
  const { client, close } = createWatchedPool(connect, { max: POOL_MAX, session: POOL_SESSION });
  const db = drizzle(client);
  return {
    client,
    db: db as unknown as QueryBuilders,
    transact: (work) => db.transaction((tx) => work(tx as unknown as QueryBuilders)),
    connect,
    close,
  };
}

/** The build of an index may take hours. The lock of a machine that vanished ends after 40 s. */
const PREPARE_SESSION = {
  ...{ statement_timeout: "0", lock_timeout: "0", idle_session_timeout: "0" },
  ...{ tcp_keepalives_idle: "10", tcp_keepalives_interval: "10", tcp_keepalives_count: "3" },
};

async function prepare(connect: PostgresDatabase["connect"]): Promise<void> {
  const client = connect({ max: 1, session: PREPARE_SESSION });
  try {
    await requireUtf8(client);
    await migrate(client);
    await ensurePartitions(client, Date.now());
  } finally {
    await client.close();
  }
}

async function requireUtf8(client: SQL): Promise<void> {
  const [row] = await client.unsafe("SELECT current_setting('server_encoding') AS encoding");
  if (row.encoding !== "UTF8") {
    throw new Error(`Cannot use the database: its encoding is ${row.encoding}, it must be UTF8`);
  }
}
