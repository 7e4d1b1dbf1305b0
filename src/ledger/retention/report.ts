import type { PostgresDatabase } from "../../db/postgres/database.ts";
import type { SqliteDatabase } from "../../db/sqlite/database.ts";
import { createRunQuery } from "../postgres/run-query.ts";
import { createValues, POSTGRES, SQLITE } from "../queries/query.ts";
import { createInlineReader } from "../sqlite/reads.ts";
import { nextBoundary, type RetentionStore, readRetention } from "./job.ts";

/** A ledger's database of either dialect. */
export type ReportedDatabase =
  | { readonly dialect: "sqlite"; readonly sqlite: Pick<SqliteDatabase, "client"> }
  | { readonly dialect: "postgres"; readonly postgres: Pick<PostgresDatabase, "client"> };

/** What retention has dropped and would drop. Times are Unix milliseconds. */
export interface RetentionReport {
  /** Receipts of earlier requests are gone; 0 when none was dropped. */
  readonly clearedToMs: number;
  readonly droppedReceipts: number;
  /** Receipts of earlier requests would be dropped; `undefined` while usage is being summed up. */
  readonly boundaryMs: number | undefined;
  /** How many receipts are before the boundary. In PostgreSQL the last months of them wait for their end. */
  readonly dueReceipts: number;
  /** Until when a jump of the clock pauses drops; 0 without one. */
  readonly pausedUntilMs: number;
  readonly databaseBytes: number;
  /** Bytes of the file that new rows will use; 0 in PostgreSQL. */
  readonly freeBytes: number;
}

/** Reads what retention has dropped, and what it would drop with these days. Drops nothing. */
export async function reportRetention(
  database: ReportedDatabase,
  receiptsDays: number,
  nowMs: number,
): Promise<RetentionReport> {
  const source = sourceOf(database);
  const state = await readRetention(source);
  const boundaryMs = await nextBoundary(state, nowMs, { receiptsDays });
  const values = createValues(source.dialect);
  const sql = `SELECT CAST(coalesce((SELECT sum(requests) FROM usage_total_hours WHERE start_ms >= ${values.add(state.clearedToMs)}
      AND start_ms < ${values.add(boundaryMs ?? 0)}), 0) AS bigint) AS due,
    CAST(coalesce((SELECT sum(receipts) FROM dropped_receipts), 0) AS bigint) AS dropped`;
  const [row] = await source.run({ sql, values: values.all });
  return {
    clearedToMs: state.clearedToMs,
    droppedReceipts: Number(row?.dropped ?? 0),
    boundaryMs,
    dueReceipts: Number(row?.due ?? 0),
    pausedUntilMs: state.pausedUntilMs,
    ...(await readSizes(source)),
  };
}

/** Returns the Unix milliseconds before which no receipt is kept; 0 while usage is being summed up. */
export async function readKeptFromMs(database: ReportedDatabase): Promise<number> {
  const source = sourceOf(database);
  const { cursor, clearedToMs, unsettledMs = Infinity } = await readRetention(source);
  const values = createValues(source.dialect);
  const sql = `SELECT min(start_ms) AS oldest_ms FROM usage_total_hours WHERE start_ms >= ${values.add(clearedToMs)}`;
  const [row] = await source.run({ sql, values: values.all });
  const oldestMs = row?.oldest_ms == null ? Infinity : Number(row.oldest_ms);
  const isWhole = cursor.hours.fromMs === 0 && cursor.totalsFromMs === 0;
  return isWhole ? Math.min(cursor.hours.toMs, unsettledMs, oldestMs) : 0;
}

type Source = Pick<RetentionStore, "run" | "dialect">;

function sourceOf(database: ReportedDatabase): Source {
  return database.dialect === "sqlite"
    ? { run: createInlineReader(database.sqlite.client), dialect: SQLITE }
    : { run: createRunQuery(database.postgres.client), dialect: POSTGRES };
}

/** @see https://www.sqlite.org/pragma.html#pragma_freelist_count */
async function readSizes({ run, dialect }: Source) {
  const sql =
    dialect === SQLITE
      ? `SELECT page_count * page_size AS bytes, freelist_count * page_size AS free
          FROM pragma_page_count, pragma_page_size, pragma_freelist_count`
      : "SELECT pg_database_size(current_database()) AS bytes, 0 AS free";
  const [row] = await run({ sql, values: [] });
  return { databaseBytes: Number(row?.bytes ?? 0), freeBytes: Number(row?.free ?? 0) };
}
