import { SQLiteError } from "bun:sqlite";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { connect } from "./sqlite/database.ts";

/**
 * Runs queries in one transaction, which is rolled back when `work` rejects. `work` must await queries of its
 * own `tx` only: SQLite's only write lock is held until it ends.
 */
export type Transact<Tx> = <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result>;

/** How long a transaction waits for the lock before it rejects. */
const WAIT_MS_MAX = 5_000;
const RETRY_MS = 5;

/**
 * Transactions of SQLite, one at a time, on a connection of their own. Drizzle's own transactions of
 * bun:sqlite commit before an asynchronous callback ends. The event loop never waits for the lock.
 */
export function createSqliteTransact(path: string): Transact<BunSQLiteDatabase> & { close(): Promise<void> } {
  let connection: { client: ReturnType<typeof connect>; db: BunSQLiteDatabase } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const open = () => {
    const client = connect(path, 0);
    connection = { client, db: drizzle(client) };
    return connection;
  };

  const run = async <Result>(work: (tx: BunSQLiteDatabase) => Promise<Result>): Promise<Result> => {
    const { client, db } = connection ?? open();
    await retryWhileBusy(() => client.run("BEGIN IMMEDIATE"));
    try {
      const result = await work(db);
      client.run("COMMIT");
      return result;
    } catch (error) {
      if (client.inTransaction) client.run("ROLLBACK");
      throw error;
    }
  };

  const transact = <Result>(work: (tx: BunSQLiteDatabase) => Promise<Result>): Promise<Result> => {
    const running = last.then(() => run(work));
    last = running.catch(() => undefined);
    return running;
  };
  const close = async () => {
    await last;
    connection?.client.close();
  };
  return Object.assign(transact, { close });
}

async function retryWhileBusy(begin: () => void): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  for (;;) {
    try {
      begin();
      return;
    } catch (error) {
      const isBusy = error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY");
      if (!isBusy || performance.now() > deadline) throw error;
      await Bun.sleep(RETRY_MS);
    }
  }
}
