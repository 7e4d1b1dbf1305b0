import { SQL } from "bun";
import { LedgerError, type LedgerReads } from "../ledger.ts";
import type { Ask, Query, Row } from "../queries/query.ts";
import { createLedgerReads } from "../queries/reads.ts";
import { POSTGRES } from "./dialect.ts";
import { storeErrorOf } from "./faults.ts";

export interface PostgresReadsParts {
  /** A pool of connections that read integers as bigint; its owner closes it. */
  readonly client: SQL;
  readonly now: () => number;
}

/** The reads of a PostgreSQL ledger. */
export function createPostgresReads({ client, now }: PostgresReadsParts): LedgerReads {
  const ask = createAsk(client);
  return createLedgerReads({ dialect: POSTGRES, askBriefly: ask, askAtLength: ask }, now);
}

/** A restart of the server leaves as many dead connections as the pool had; each is noticed when it is used. */
const DEAD_MAX = 8;

function createAsk(client: SQL): Ask {
  const ask: (query: Query, tries: number) => Promise<readonly Row[]> = async (query, tries) => {
    try {
      return [...(await client.unsafe(query.sql, [...query.values]))];
    } catch (error) {
      if (tries < DEAD_MAX && wasDead(error)) return ask(query, tries + 1);
      throw new LedgerError("unavailable", storeErrorOf(error));
    }
  };
  return (query) => ask(query, 1);
}

/** Whether the connection had ended before: the next one may be good. */
function wasDead(error: unknown): boolean {
  if (!(error instanceof SQL.PostgresError)) return false;
  return error.code === "ERR_POSTGRES_CONNECTION_CLOSED" || /^57P0[12]/.test(error.errno ?? "");
}
