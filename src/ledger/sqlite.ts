import { connect, type SqliteDatabase } from "../db/sqlite/database.ts";
import { type BatchOptions, createBatcher } from "./batch.ts";
import type { Ledger } from "./ledger.ts";
import { createLogSync } from "./sqlite/log-sync.ts";
import { createSqliteReads } from "./sqlite/reads.ts";
import { createSqliteStore } from "./sqlite/store.ts";
import { expireDue } from "./sweep.ts";

/** 16 MiB of log between checkpoints: a page that was written many times is copied once. */
const CHECKPOINT_PAGES = 4_000;

/** A ledger that can end the holds nobody ends. */
export interface SweptLedger extends Ledger {
  /** Expires the holds whose time is up, at most 500; returns how many were due. */
  sweep(): Promise<number>;
}

export interface SqliteLedgerOptions extends BatchOptions {
  readonly database: SqliteDatabase;
  readonly now?: () => number;
}

/**
 * The ledger in a SQLite file, over a connection of its own. Several processes may share the file:
 * every batch reads the books anew under the file's lock.
 */
export function createSqliteLedger({
  database,
  now = Date.now,
  ...options
}: SqliteLedgerOptions): SweptLedger {
  const client = connect(database.path, 0);
  // A commit goes to the log unsynced, and is answered when the log is synced: see log-sync.
  client.run("PRAGMA synchronous = NORMAL");
  client.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  const log = createLogSync(database.path);
  const store = createSqliteStore({ client, now, sync: log.sync });
  const reads = createSqliteReads({ client, now });
  const { submit, close } = createBatcher(store, options);

  return {
    createWallet: (walletId) => submit("create_wallet", { walletId }),
    hold: (request) => submit("hold", request),
    extend: (request) => submit("extend", request),
    settle: (request) => submit("settle", request),
    release: (request) => submit("release", request),
    topUp: (request) => submit("top_up", request),
    refund: (request) => submit("refund", request),
    setSpendLimit: (limit) => submit("set_spend_limit", limit),
    balances: async (walletId) => reads.balances(walletId),
    spendLimits: async (walletId, keyId) => reads.spendLimits(walletId, keyId),
    receipt: async (walletId, holdId) => reads.receipt(walletId, holdId),
    sweep: () => expireDue(store, submit),
    async close() {
      await close();
      log.close();
      client.close();
    },
  };
}
