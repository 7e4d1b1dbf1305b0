import { connect, type SqliteDatabase } from "../../db/sqlite/database.ts";
import { platform } from "../../platform.ts";
import type { BatchOptions } from "../engine/batcher.ts";
import { createLocalLedger, type LocalLedger } from "../engine/local.ts";
import { createLogSync, type OpenLogSync } from "./log-sync.ts";
import { createInlineReader, createSqliteReads, createWorkerReader, type WorkerReader } from "./reads.ts";
import { createSqliteRetentionStore, type RetentionDropper } from "./retention-store.ts";
import { createSqliteRollUpStore } from "./roll-up-store.ts";
import { createSqliteStore } from "./store.ts";

/** Checkpoints every 16 MiB of log, so that a page written many times is copied once. */
const CHECKPOINT_PAGES = 4_000;
/** Milliseconds that preparing statements waits for another process that is opening the file. */
const OPEN_MS = 2_000;

/** For the receipts of an hour on a busy machine. */
const SCRATCH_MS_MAX = 300_000;

export interface SqliteLedgerOptions extends BatchOptions {
  readonly database: SqliteDatabase;
  readonly now?: () => number;
  /** Opens what syncs commits. Default: the disk. */
  readonly openLog?: OpenLogSync;
  /** Runs the long queries. Default: a worker. */
  readonly reader?: WorkerReader;
  /** Opens what runs long queries with temporary tables. Default: a worker. */
  readonly openScratch?: () => WorkerReader;
  /** Drops old receipts. Default: a worker. */
  readonly dropper?: RetentionDropper;
  /** Opens what commits batches. Default: the file. */
  readonly openStore?: typeof createSqliteStore;
}

/**
 * Creates a ledger in a SQLite file, over a connection of its own. Several processes may share the file:
 * a batch never decides on rows that another process has changed.
 */
export function createSqliteLedger({
  database: { path },
  now = platform.now,
  openLog = createLogSync,
  reader = createWorkerReader({ path }),
  openScratch = () => createWorkerReader({ path, replyMsMax: SCRATCH_MS_MAX }),
  dropper,
  openStore = createSqliteStore,
  ...options
}: SqliteLedgerOptions): LocalLedger {
  const client = connect(path, OPEN_MS);
  // SQLite writes a commit to the log without syncing it. log-sync.ts syncs before commands are completed.
  client.run("PRAGMA synchronous = NORMAL");
  client.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  const log = openLog(path);
  const store = openStore({ client, now, sync: log.sync });
  const reads = createSqliteReads({ client, path, now, reader });
  const rollUps = createSqliteRollUpStore({
    client,
    runShort: createInlineReader(client),
    run: reader.run,
    openScratch,
    now,
    forgetFence: store.forgetFence,
  });
  const retention = createSqliteRetentionStore({ client, path, run: reader.run, now, dropper });
  // From now on, no statement may block the event loop.
  client.run("PRAGMA busy_timeout = 0");
  return createLocalLedger({
    store,
    reads,
    rollUps,
    retention,
    now,
    options,
    async close() {
      await reads.close();
      log.close();
      client.close();
    },
  });
}
