import type { ReservedSQL, SQL } from "bun";
import type { ConnectOptions } from "../../db/postgres/connection.ts";
import type { PostgresDatabase } from "../../db/postgres/database.ts";
import { StoreError } from "../store.ts";

/** One connection, for one thing at a time. */
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
  /** Names the server and its history: transaction ids of another one mean nothing here. */
  readonly server: string;
}

/** The driver itself tries for longer where somebody accepts connections and closes them. */
const CONNECT_MS = 1_500;

export function createSession(
  database: Pick<PostgresDatabase, "connect">,
  settings: ConnectOptions["session"] = {},
): Session {
  let pool: SQL | undefined;
  let opened: Connection | undefined;

  const open = async () => {
    pool ??= database.connect({ max: 1, connectSeconds: 2, session: settings });
    opened ??= await reserve(pool);
    return opened;
  };
  const abandon = () => {
    if (opened) closeQuietly(opened.client);
    opened = undefined;
  };

  return {
    async run(maxMs, work) {
      const watch = setTimeout(abandon, maxMs);
      try {
        return await work(await open());
      } catch (error) {
        abandon();
        throw error;
      } finally {
        clearTimeout(watch);
      }
    },
    async close() {
      await opened?.client.release();
      await pool?.close({ timeout: 1 });
    },
  };
}

async function reserve(pool: SQL): Promise<Connection> {
  const client = await connect(pool);
  try {
    const [row] = await client.unsafe(
      "SELECT system_identifier || ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS server FROM pg_control_system()",
    );
    return { client, server: row.server };
  } catch (error) {
    closeQuietly(client);
    throw error;
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
