import type { ReservedSQL, SQL } from "bun";
import type { ConnectOptions } from "../../db/postgres/connection.ts";
import type { PostgresDatabase } from "../../db/postgres/database.ts";
import { StoreError } from "../engine/store.ts";

/** One connection, for one transaction at a time. */
export interface Session {
  /**
   * Runs `work` on the connection, which is opened first if necessary. When `work` fails or takes longer than
   * `maxMs`, the connection is closed, which rolls back, and the next run opens another.
   */
  run<Result>(maxMs: number, work: (connection: Connection) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface Connection {
  readonly client: ReservedSQL;
  /**
   * Identifies the server, its timeline and its last start: transaction ids are only comparable within these.
   */
  readonly server: string;
}

/**
 * The cluster, its timeline, and the time of the last start or crash. A crash loses the ids of transactions
 * whose log was not on disk. Later transactions reuse these ids, so that a commit status could be that of
 * another transaction. The postmaster may survive a crash; the reset time of the statistics detects it.
 */
const SERVER = `SELECT concat_ws(' ', system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8),
    extract(epoch FROM pg_postmaster_start_time()),
    extract(epoch FROM (SELECT stats_reset FROM pg_stat_bgwriter))) AS server
  FROM pg_control_system()`;

/** A bound of our own: the driver keeps trying for longer when a peer accepts connections and closes them. */
const CONNECT_MS = 1_500;

export function createSession(
  database: Pick<PostgresDatabase, "connect">,
  settings: ConnectOptions["session"] = {},
): Session {
  let pool: SQL | undefined;
  let opened: Promise<Connection> | undefined;

  const open = () => {
    pool ??= database.connect({ max: 1, connectSeconds: 2, session: settings });
    opened ??= reserve(pool);
    return opened;
  };
  const drop = (connection: Promise<Connection>) => {
    if (opened === connection) opened = undefined;
    connection.then(({ client }) => closeQuietly(client)).catch(() => undefined);
  };

  return {
    async run(maxMs, work) {
      const connection = open();
      const timeout = setTimeout(drop, maxMs, connection);
      try {
        return await work(await connection);
      } catch (error) {
        drop(connection);
        throw error;
      } finally {
        clearTimeout(timeout);
      }
    },
    async close() {
      const last = await opened?.catch(() => undefined);
      await last?.client.release();
      await pool?.close({ timeout: 1 });
    },
  };
}

async function reserve(pool: SQL): Promise<Connection> {
  const client = await connect(pool);
  const timeout = setTimeout(closeQuietly, CONNECT_MS, client);
  try {
    const [row] = await client.unsafe(SERVER);
    return { client, server: row.server };
  } catch (error) {
    closeQuietly(client);
    throw error;
  } finally {
    clearTimeout(timeout);
  }
}

async function connect(pool: SQL): Promise<ReservedSQL> {
  const signal = AbortSignal.timeout(CONNECT_MS);
  try {
    return await pool.reserve({ signal });
  } catch (error) {
    throw signal.aborted ? new StoreError("away", new Error("PostgreSQL: no connection in time")) : error;
  }
}

function closeQuietly(client: ReservedSQL): void {
  client.close().catch(() => undefined);
}
