import type { Database } from "bun:sqlite";
import { LedgerError, type LedgerReads } from "../ledger.ts";
import type { Ask, QueryValue, Row } from "../queries/query.ts";
import { createLedgerReads } from "../queries/reads.ts";
import { SQLITE } from "./dialect.ts";
import { createReader } from "./reader.ts";

export interface SqliteReadsParts {
  /** For reads behind an index, on the event loop: an open connection to the file. */
  readonly client: Database;
  readonly path: string;
  readonly now: () => number;
}

export interface SqliteReads extends LedgerReads {
  /** Ends the worker; reads that wait for it are refused as `unavailable`. */
  close(): void;
}

/** The reads of a SQLite ledger. Lists and sums are left to a worker, which the first of them starts. */
export function createSqliteReads({ client, path, now }: SqliteReadsParts): SqliteReads {
  const reader = createReader({ path });
  const books = { dialect: SQLITE, askBriefly: createBriefAsk(client), askAtLength: reader.ask };
  return { ...createLedgerReads(books, now), close: reader.close };
}

function createBriefAsk(client: Database): Ask {
  return async ({ sql, values }) => {
    try {
      return client
        .query<Row, QueryValue[]>(sql)
        .safeIntegers(true)
        .all(...values);
    } catch (error) {
      throw new LedgerError("unavailable", error);
    }
  };
}
