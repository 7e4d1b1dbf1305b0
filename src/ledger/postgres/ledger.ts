import type { PostgresDatabase } from "../../db/postgres/database.ts";
import type { BatchOptions } from "../engine/batcher.ts";
import { createLocalLedger, type SweptLedger } from "../engine/local.ts";
import { createPostgresReads } from "./reads.ts";
import { createPostgresStore } from "./store.ts";

export interface PostgresLedgerOptions extends BatchOptions {
  /** Stays the caller's: closing the ledger leaves it open. */
  readonly database: PostgresDatabase;
  /** A clock of tests. Without it the books go by the database's clock, the same for every process. */
  readonly now?: () => number;
}

/**
 * The ledger in PostgreSQL: one connection for its batches, the database's pool for its reads. Several
 * processes may share the database; it outlives the server's restarts.
 */
export function createPostgresLedger({ database, now, ...options }: PostgresLedgerOptions): SweptLedger {
  const store = createPostgresStore({ database, now });
  const reads = createPostgresReads({ client: database.client, now: now ?? Date.now });
  return createLocalLedger({ store, reads, now: now ?? Date.now, options, close: store.close });
}
