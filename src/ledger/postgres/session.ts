import type { ReservedSQL, SQL } from "bun";
import type { ConnectOptions } from "../../db/postgres/connection.ts";
import type { PostgresDatabase } from "../../db/postgres/database.ts";
import { StoreError } from "../engine/store.ts";

/** One connection, for one transaction at a time; what is asked beside that shares it. */
export interface Session {
  /**
   * Runs something on the connection, which is opened when there is none. When it fails or takes longer
   * than it may, the connection is closed, which rolls back what is open, and the next run makes another.
   */
  run<Result>(maxMs: number, work: (connection: Connection) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface Connection {
  readonly client: ReservedSQL;
  /** Names the server, its history and its life: transaction ids of another one mean nothing here. */
  readonly server: string;
}

/**
 * The cluster, its timeline, and the life of the server between two crashes. A crash forgets the ids of
 * transactions whose log was not on disk yet, and the next ones get the same ids: after it "committed" may be
 * said of somebody else's. The postmaster may outlive a crash, but statistics do not, so theirs tell it.
 */
const SERVER = `SELECT concat_ws(' ', system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8),
    extract(epoch FROM pg_postmaster_start_time()),
    extract(epoch FROM (SELECT stats_reset FROM pg_stat_bgwriter))) AS server
  FROM pg_control_system()`;

/** The driver itself tries for longer where somebody accepts connections and closes them. */
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
  const abandon = (connection: Promise<Connection>) => {
    if (opened === connection) opened = undefined;
    connection.then(({ client }) => closeQuietly(client)).catch(() => undefined);
  };

  return {
    async run(maxMs, work) {
      const connection = open();
      const watch = setTimeout(abandon, maxMs, connection);
      try {
        return await work(await connection);
      } catch (error) {
        abandon(connection);
        throw error;
      } finally {
        clearTimeout(watch);
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
  const watch = setTimeout(closeQuietly, CONNECT_MS, client);
  try {
    const [row] = await client.unsafe(SERVER);
    return { client, server: row.server };
  } catch (error) {
    closeQuietly(client);
    throw error;
  } finally {
    clearTimeout(watch);
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
