import type { PostgresDatabase } from "../../db/postgres/database.ts";
import type { BatchOptions } from "../engine/batcher.ts";
import { createLocalLedger, type LocalLedger } from "../engine/local.ts";
import { createPostgresReads, createRunQuery } from "./reads.ts";
import { createPostgresRetentionStore } from "./retention-store.ts";
import { createPostgresRollUpStore } from "./roll-up-store.ts";
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
  const { client } = database;
  const reads = createPostgresReads({ client, now: now ?? Date.now });
  const rollUps = createPostgresRollUpStore({ client, run: createRunQuery(client), now });
  const retention = createPostgresRetentionStore(database, now);
  const clock = now ?? Date.now;
  return createLocalLedger({ store, reads, rollUps, retention, now: clock, options, close: store.close });
}
