import { SQL } from "bun";
import { drizzle } from "drizzle-orm/bun-sql";
import type { SqliteDatabase } from "../sqlite/database.ts";
import { type ConnectOptions, readPostgresUrl } from "./connection.ts";
import { migrate } from "./migrate.ts";
import { ensurePartitions } from "./partitions.ts";

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

/** A pool of connections that survives a server that vanishes without closing them. */
export interface WatchedPool {
  /**
   * Forwards to the current pool. Queries made with `unsafe` are watched, and run whether or not they are
   * awaited; other calls are not watched.
   */
  readonly client: SQL;
  close(): Promise<void>;
}

interface Query {
  readonly begunAtMs: number;
}

interface Pool {
  readonly client: SQL;
  /** The application_name of its connections, which identifies them on the server. */
  readonly name: string;
  /** The unanswered queries, the oldest first. */
  readonly queries: Set<Query>;
}

/** How long a query may wait before the server is probed. */
const SILENCE_MAX_MS = 5_000;
const PROBE_MS = 5_000;
/** Longer than the `statement_timeout` of the server plus the wait for a connection. */
const LONGEST_MS = 45_000;

const IS_BUSY = `SELECT count(*) > 0 AS is_busy FROM pg_stat_activity
  WHERE application_name = $1 AND state IS DISTINCT FROM 'idle'`;

/**
 * Connections to a vanished server stay silent until TCP gives up, after about 15 minutes. When a query has
 * waited for `silenceMaxMs`, a new connection reads whether the server is running a query of this pool. If it
 * is not, or does not answer, the pool is replaced: its queries reject with a closed connection.
 */
export function createWatchedPool(
  connect: (options: ConnectOptions) => SQL,
  options: ConnectOptions,
  silenceMaxMs = SILENCE_MAX_MS,
): WatchedPool {
  let pool = openPool(connect, options);
  let timer: Timer | undefined;
  let checking: Promise<void> | undefined;
  const closing = new AbortController();

  const watch = () => {
    if (timer || checking || closing.signal.aborted) return;
    timer = setTimeout(() => {
      timer = undefined;
      checking = checkServer().finally(() => {
        checking = undefined;
        if (pool.queries.size > 0) watch();
      });
    }, silenceMaxMs / 2);
  };
  const checkServer = async () => {
    const [oldest] = pool.queries;
    if (!oldest || performance.now() - oldest.begunAtMs < silenceMaxMs) return;
    if (await mayStillAnswer(connect, pool.name, oldest, closing.signal)) return;
    // Answered meanwhile: this process was slow, or the query waited for a connection.
    if (!pool.queries.has(oldest) || closing.signal.aborted) return;
    const lost = pool;
    pool = openPool(connect, options);
    await closeAtOnce(lost.client);
  };

  const unsafe: SQL["unsafe"] = (text, values) => {
    const { client, queries } = pool;
    const result = client.unsafe(text, values);
    const query = { begunAtMs: performance.now() };
    const end = () => void queries.delete(query);
    queries.add(query);
    watch();
    // Adding a listener starts the query, so the caller first calls `.values()` or `.simple()`.
    queueMicrotask(() => result.then(end, end));
    return result;
  };

  return {
    client: forward(() => pool.client, unsafe),
    async close() {
      closing.abort();
      clearTimeout(timer);
      await pool.client.close({ timeout: 5 });
      await checking;
    },
  };
}

function openPool(connect: (options: ConnectOptions) => SQL, options: ConnectOptions): Pool {
  const name = `tollgate ${crypto.randomUUID()}`;
  const client = connect({ ...options, session: { ...options.session, application_name: name } });
  return { client, name, queries: new Set() };
}

function forward(current: () => SQL, unsafe: SQL["unsafe"]): SQL {
  return new Proxy(current(), {
    get: (_, key) => (key === "unsafe" ? unsafe : Reflect.get(current(), key)),
    apply: (_, self, parts) => Reflect.apply(current(), self, parts),
  });
}

/** Whether a query of the pool is running, or the server answers with an error. */
async function mayStillAnswer(
  connect: (options: ConnectOptions) => SQL,
  name: string,
  { begunAtMs }: Query,
  closing: AbortSignal,
): Promise<boolean> {
  if (performance.now() - begunAtMs > LONGEST_MS) return false;
  const probe = connect({ max: 1 });
  const giveUp = () => void closeAtOnce(probe);
  const late = setTimeout(giveUp, PROBE_MS);
  closing.addEventListener("abort", giveUp);
  try {
    const [row] = await probe.unsafe(IS_BUSY, [name]);
    return row.is_busy;
  } catch (error) {
    // An error code is an answer: a full server, for example, would not admit a new pool either.
    return error instanceof SQL.PostgresError && error.errno !== undefined;
  } finally {
    clearTimeout(late);
    closing.removeEventListener("abort", giveUp);
    await closeAtOnce(probe);
  }
}

/** Closes the pool; its unanswered queries reject. */
async function closeAtOnce(client: SQL): Promise<void> {
  await client.close({ timeout: 0 }).catch(() => undefined);
}
