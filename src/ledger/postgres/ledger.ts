import type { PostgresDatabase } from "../../db/postgres/database.ts";
import type { BatchOptions } from "../engine/batcher.ts";
import { createLocalLedger, type LocalLedger } from "../engine/local.ts";
import { createPostgresReads } from "./reads.ts";
import { createPostgresStore } from "./store.ts";

export interface PostgresLedgerOptions extends BatchOptions {
  /** Closing the ledger leaves the database open. */
  readonly database: PostgresDatabase;
  /** A clock for tests. Default: the database's clock, which all processes share. */
  readonly now?: () => number;
}

/**
 * Creates a ledger in PostgreSQL: one connection for batches, the database's pool for reads. Several
 * processes may share the database. The ledger survives restarts of the server.
 */
export function createPostgresLedger({ database, now, ...options }: PostgresLedgerOptions): LocalLedger {
  const store = createPostgresStore({ database, now });
  const reads = createPostgresReads({ client: database.client, now: now ?? Date.now });
  return createLocalLedger({ store, reads, now: now ?? Date.now, options, close: store.close });
}
