import type { SQL } from "bun";
import type { PostgresDatabase } from "../../db/postgres/database.ts";
import type { BatchOptions } from "../engine/batcher.ts";
import { createLocalLedger, type LocalLedger } from "../engine/local.ts";
import { POSTGRES } from "../queries/query.ts";
import { createLedgerReads } from "../queries/reads.ts";
import type { LedgerReads } from "../records.ts";
import { createPostgresRetentionStore } from "./retention-store.ts";
import { createPostgresRollUpStore } from "./roll-up-store.ts";
import { createRunQuery } from "./run-query.ts";
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
  const clock = now ?? Date.now;
  const reads = createPostgresReads({ client, now: clock });
  const rollUps = createPostgresRollUpStore({ client, run: createRunQuery(client), now });
  const retention = createPostgresRetentionStore(database, now);
  return createLocalLedger({ store, reads, rollUps, retention, now: clock, options, close: store.close });
}

interface PostgresReadsParts {
  /** A pool whose connections return integers as bigint. Its owner closes it. */
  readonly client: SQL;
  readonly now: () => number;
}

/** Creates the reads of a PostgreSQL ledger. */
export function createPostgresReads({ client, now }: PostgresReadsParts): LedgerReads {
  const run = createRunQuery(client);
  return createLedgerReads({ dialect: POSTGRES, runShort: run, runLong: run }, now);
}
