import { SQL } from "bun";
import { LedgerError } from "../ledger.ts";
import { POSTGRES, type Query, type Row, type RunQuery } from "../queries/query.ts";
import { createLedgerReads } from "../queries/reads.ts";
import type { LedgerReads } from "../records.ts";
import { storeErrorOf } from "./faults.ts";

export interface PostgresReadsParts {
  /** A pool whose connections return integers as bigint. Its owner closes it. */
  readonly client: SQL;
  readonly now: () => number;
}

/** Creates the reads of a PostgreSQL ledger. */
export function createPostgresReads({ client, now }: PostgresReadsParts): LedgerReads {
  const run = createRunQuery(client);
  return createLedgerReads({ dialect: POSTGRES, runShort: run, runLong: run }, now);
}

/**
 * The most tries of one query. After a restart of the server, every pooled connection is dead when next used.
 */
const TRIES_MAX = 8;

/** Runs queries over a pool, again when the connection was dead. */
export function createRunQuery(client: SQL): RunQuery {
  const run: (query: Query, tries: number) => Promise<readonly Row[]> = async (query, tries) => {
    try {
      return [...(await client.unsafe(query.sql, [...query.values]))];
    } catch (error) {
      if (tries < TRIES_MAX && wasDead(error)) return run(query, tries + 1);
      throw new LedgerError("unavailable", storeErrorOf(error));
    }
  };
  return (query) => run(query, 1);
}

/** Whether the connection had ended before the query, so that another connection may work. */
function wasDead(error: unknown): boolean {
  if (!(error instanceof SQL.PostgresError)) return false;
  return error.code === "ERR_POSTGRES_CONNECTION_CLOSED" || /^57P0[12]/.test(error.errno ?? "");
}
