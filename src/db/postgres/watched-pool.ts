import { SQL } from "bun";
import type { ConnectOptions } from "./connection.ts";

/** A pool of connections that outlives a server which vanishes without a word. */
export interface WatchedPool {
  /**
   * The pool of the moment. What is asked with `unsafe` is watched, and runs whether or not it is awaited;
   * the rest is only passed on.
   */
  readonly client: SQL;
  close(): Promise<void>;
}

interface Query {
  readonly begunAtMs: number;
}

interface Pool {
  readonly client: SQL;
  /** Its connections' application_name, by which the server knows them. */
  readonly name: string;
  /** What has no answer yet, the longest waiting first. */
  readonly queries: Set<Query>;
}

const PATIENCE_MS = 5_000;
const PROBE_MS = 5_000;
/** Longer than the server lets any statement run, and some waiting for a connection. */
const LONGEST_MS = 45_000;

const AT_WORK = `SELECT count(*) > 0 AS is_at_work FROM pg_stat_activity
  WHERE application_name = $1 AND state IS DISTINCT FROM 'idle'`;

/**
 * Connections to a server that vanished stay silent until TCP gives up, after a quarter of an hour. So when
 * a query has waited for `patienceMs`, a fresh connection asks whether the server is at work for this pool.
 * If it is not, or does not answer, the pool is replaced: its queries reject as those of a closed connection.
 */
export function createWatchedPool(
  connect: (options: ConnectOptions) => SQL,
  options: ConnectOptions,
  patienceMs = PATIENCE_MS,
): WatchedPool {
  let pool = openPool(connect, options);
  let timer: Timer | undefined;
  let looking: Promise<void> | undefined;
  const closing = new AbortController();

  const watch = () => {
    if (timer || looking || closing.signal.aborted) return;
    timer = setTimeout(() => {
      timer = undefined;
      looking = look().finally(() => {
        looking = undefined;
        if (pool.queries.size > 0) watch();
      });
    }, patienceMs / 2);
  };
  const look = async () => {
    const [oldest] = pool.queries;
    if (!oldest || performance.now() - oldest.begunAtMs < patienceMs) return;
    if (await mayStillAnswer(connect, pool.name, oldest, closing.signal)) return;
    // Answered meanwhile: this process was late, or the query had to wait for a connection.
    if (!pool.queries.has(oldest) || closing.signal.aborted) return;
    const lost = pool;
    pool = openPool(connect, options);
    await closeAtOnce(lost.client);
  };

  const unsafe: SQL["unsafe"] = (text, values) => {
    const { client, queries } = pool;
    const asked = client.unsafe(text, values);
    const query = { begunAtMs: performance.now() };
    const end = () => void queries.delete(query);
    queries.add(query);
    watch();
    // Listening starts the query, so the caller says first how: `.values()`, `.simple()`.
    queueMicrotask(() => asked.then(end, end));
    return asked;
  };

  return {
    client: forward(() => pool.client, unsafe),
    async close() {
      closing.abort();
      clearTimeout(timer);
      await pool.client.close({ timeout: 5 });
      await looking;
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

/** Whether some query of the pool is being worked on, or the server is in no state to say. */
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
    const [row] = await probe.unsafe(AT_WORK, [name]);
    return row.is_at_work;
  } catch (error) {
    // A code is an answer: the server is full, say, and would not let in a new pool either.
    return error instanceof SQL.PostgresError && error.errno !== undefined;
  } finally {
    clearTimeout(late);
    closing.removeEventListener("abort", giveUp);
    await closeAtOnce(probe);
  }
}

/** What still waits for an answer rejects. */
async function closeAtOnce(client: SQL): Promise<void> {
  await client.close({ timeout: 0 }).catch(() => undefined);
}
