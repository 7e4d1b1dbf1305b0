import { connect, type SqliteDatabase } from "../../db/sqlite/database.ts";
import type { BatchOptions } from "../engine/batcher.ts";
import { createLocalLedger, type SweptLedger } from "../engine/local.ts";
import { createLogSync } from "./log-sync.ts";
import { createSqliteReads } from "./reads.ts";
import { createSqliteStore } from "./store.ts";

/** 16 MiB of log between checkpoints: a page that was written many times is copied once. */
const CHECKPOINT_PAGES = 4_000;
/** How long preparing waits for another process, which may be opening the same file at this moment. */
const START_MS = 2_000;

export interface SqliteLedgerOptions extends BatchOptions {
  readonly database: SqliteDatabase;
  readonly now?: () => number;
}

/**
 * The ledger in a SQLite file, over a connection of its own. Several processes may share the file:
 * every batch reads the books anew under the file's lock.
 */
export function createSqliteLedger({
  database: { path },
  now = Date.now,
  ...options
}: SqliteLedgerOptions): SweptLedger {
  const client = connect(path, START_MS);
  // A commit goes to the log unsynced, and is answered when the log is synced: see log-sync.
  client.run("PRAGMA synchronous = NORMAL");
  client.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  const log = createLogSync(path);
  const store = createSqliteStore({ client, now, sync: log.sync });
  const reads = createSqliteReads({ client, path, now });
  // From now on the event loop waits for nobody.
  client.run("PRAGMA busy_timeout = 0");
  return createLocalLedger({
    store,
    reads,
    now,
    options,
    async close() {
      await reads.close();
      log.close();
      client.close();
    },
  });
}
