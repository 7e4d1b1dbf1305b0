import type { SQL } from "bun";
import { type BunSQLDatabase, drizzle } from "drizzle-orm/bun-sql";
import { type ConnectOptions, readPostgresUrl } from "./connection.ts";
import { migrate } from "./migrate.ts";
import { ensurePartitions } from "./partitions.ts";
import * as schema from "./schema.ts";
import { createWatchedPool } from "./watched-pool.ts";

/**
 * A PostgreSQL database with the current schema. `client` and `db` are one small pool, which is replaced
 * when the server vanishes: what it was asked then rejects, mostly within 15 s and at the latest after 50.
 */
export interface PostgresDatabase {
  /** Integers of eight bytes come as bigint. */
  readonly client: SQL;
  readonly db: BunSQLDatabase<typeof schema>;
  /** Opens other connections to the same database; whoever does closes them. */
  connect(options: ConnectOptions): SQL;
  close(): Promise<void>;
}

const POOL_MAX = 4;
/** What a query outside the ledger's batches may take; after that it is cancelled. */
const POOL_SESSION = { statement_timeout: "30s", idle_in_transaction_session_timeout: "30s" };

/**
 * Connects, and brings the schema up to date under a lock, whichever replica comes first. Throws when the
 * server cannot be reached, does not keep UTF-8, or its schema is newer than this program.
 *
 * Connections keep prepared statements and runtime parameters: a pooler between must be in session mode
 * and let the parameters of {@link SessionSettings} through.
 */
export async function openPostgres(url: string): Promise<PostgresDatabase> {
  const connect = readPostgresUrl(url);
  await prepare(connect);
  const { client, close } = createWatchedPool(connect, { max: POOL_MAX, session: POOL_SESSION });
  return { client, db: drizzle(client, { schema }), connect, close };
}

/** On a connection of its own: a lock that other replicas wait for must not meet a statement's time limit. */
async function prepare(connect: PostgresDatabase["connect"]): Promise<void> {
  const client = connect({ max: 1 });
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
