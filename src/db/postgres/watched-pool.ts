import { SQL } from "bun";
import type { ConnectOptions } from "./connection.ts";

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
