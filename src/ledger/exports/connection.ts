import { SQL } from "bun";
import type { Database } from "../../db/database.ts";
import { connect } from "../../db/sqlite/database.ts";
import { createRunQuery } from "../postgres/run-query.ts";
import {
  type Dialect,
  POSTGRES,
  type QueryValue,
  type Row,
  type RunQuery,
  SQLITE,
} from "../queries/query.ts";
import { createLogSync, type OpenLogSync } from "../sqlite/log-sync.ts";

/** The database of a ledger, for exports of usage. */
export interface ExportConnection {
  readonly dialect: Dialect;
  readonly run: RunQuery;
  /**
   * Runs statements in one transaction, which is rolled back when `work` rejects or resolves with `undefined`.
   * `undefined` also when the database was busy.
   */
  transact<Result>(work: (run: RunQuery) => Promise<Result | undefined>): Promise<Result | undefined>;
  /** Must be called in a transaction. When it resolves, every batch sees what the transaction writes first. */
  lockFence(run: RunQuery): Promise<void>;
  /** Resolves when everything that was read is on disk. A loss of power would else take back what was delivered. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens connections of their own, for a thread that SQLite may block. */
export function openExportConnection(
  database: Database,
  openLog: OpenLogSync = createLogSync,
): ExportConnection {
  return database.dialect === "sqlite"
    ? overSqlite(database.sqlite.path, openLog)
    : overPostgres(database.postgres);
}

/** Milliseconds that a statement waits for a lock of the file. */
const BUSY_MS = 5_000;
/** WAL pages at which a commit on this connection checkpoints. The ledger does it first, at half as many. */
const CHECKPOINT_PAGES = 8_000;

/**
 * Does not wait for the disk: a loss of power sets the cursor back, which repeats lines. The lock is held for
 * microseconds.
 */
function overSqlite(path: string, openLog: OpenLogSync): ExportConnection {
  const reader = connect(path, BUSY_MS);
  const writer = connect(path, BUSY_MS);
  writer.run("PRAGMA synchronous = NORMAL");
  writer.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  const log = openLog(path);
  let last: Promise<unknown> = Promise.resolve();

  const transact: ExportConnection["transact"] = async (work) => {
    writer.run("BEGIN IMMEDIATE");
    try {
      const result = await work(runOn(writer));
      writer.run(result === undefined ? "ROLLBACK" : "COMMIT");
      return result;
    } finally {
      if (writer.inTransaction) writer.run("ROLLBACK");
    }
  };
  return {
    dialect: SQLITE,
    run: runOn(reader),
    // One at a time: the exports of a process share the connection.
    transact(work) {
      const running = last.then(() => transact(work));
      last = running.catch(() => undefined);
      return running;
    },
    // Transactions of SQLite have the file's only write lock.
    lockFence: async () => undefined,
    sync: log.sync,
    async close() {
      await last;
      log.close();
      reader.close();
      writer.close();
    },
  };
}

function runOn(client: ReturnType<typeof connect>): RunQuery {
  return async ({ sql, values }) =>
    client
      .query<Row, QueryValue[]>(sql)
      .safeIntegers(true)
      .all(...values);
}

const SESSION = { statement_timeout: "30s", idle_in_transaction_session_timeout: "30s" };
/** Short, because every batch of the ledger queues behind a waiting lock of the fence. */
const LOCK_TIMEOUT = "200ms";
const LOCK_NOT_AVAILABLE = "55P03";

function overPostgres({
  connect: open,
}: Extract<Database, { dialect: "postgres" }>["postgres"]): ExportConnection {
  const client = open({ max: 2, session: SESSION });
  return {
    dialect: POSTGRES,
    run: createRunQuery(client),
    async transact(work) {
      try {
        return await client.begin(async (transaction) => {
          const run: RunQuery = async ({ sql, values }) => [...(await transaction.unsafe(sql, [...values]))];
          const result = await work(run);
          if (result === undefined) throw new RolledBack();
          return result;
        });
      } catch (error) {
        if (error instanceof RolledBack || isBusy(error)) return undefined;
        throw error;
      }
    },
    async lockFence(run) {
      await run({ sql: `SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`, values: [] });
      await run({ sql: "LOCK TABLE usage_fence IN ACCESS EXCLUSIVE MODE", values: [] });
    },
    // A commit is on disk before another connection sees it.
    sync: async () => undefined,
    close: () => client.close({ timeout: 1 }),
  };
}

class RolledBack extends Error {
  override readonly name = "RolledBack";
}

function isBusy(error: unknown): boolean {
  return error instanceof SQL.PostgresError && error.errno === LOCK_NOT_AVAILABLE;
}
