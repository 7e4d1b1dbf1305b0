import { SQL } from "bun";
import { LedgerError } from "../ledger.ts";
import type { Query, Row, RunQuery } from "../queries/query.ts";
import type { Value } from "../queries/rows.ts";
import { storeErrorOf } from "./faults.ts";

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

/** Runs the reads of a batch on the connection of its transaction. Those begun at once are pipelined. */
export function createBatchReads(client: SQL) {
  const run = async <Row>(sql: string, values: Value[]): Promise<readonly Row[]> =>
    await client.unsafe(sql, values).execute();
  return {
    run,
    /** Takes its parameters as columns of rows. Without rows it sends nothing to the server. */
    runForRows: async <Row>(sql: string, rows: readonly (readonly Value[])[]): Promise<readonly Row[]> =>
      rows.length === 0 ? [] : run<Row>(sql, encodeColumns(rows)),
  };
}

/** Whether the connection had ended before the query, so that another connection may work. */
function wasDead(error: unknown): boolean {
  if (!(error instanceof SQL.PostgresError)) return false;
  return error.code === "ERR_POSTGRES_CONNECTION_CLOSED" || /^57P0[12]/.test(error.errno ?? "");
}

const NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** The database's clock in Unix milliseconds, which all processes share; `now` replaces it in tests. */
export function createClock(run: RunQuery, now: (() => number) | undefined): () => Promise<number> {
  return async () => {
    if (now) return now();
    const [row] = await run({ sql: `SELECT ${NOW_MS} AS now_ms`, values: [] });
    return Number(row?.now_ms);
  };
}

/** Another process may have read a later clock. Only after the clock was set back, an end is further away than that. */
const LEASE = `INSERT INTO leases AS l (job, holder, expires_at_ms) VALUES ($1, $2, $3) ON CONFLICT (job) DO UPDATE
  SET holder = excluded.holder, expires_at_ms = excluded.expires_at_ms
  WHERE l.holder = excluded.holder OR l.expires_at_ms <= $4 OR l.expires_at_ms > 2 * $3 - $4 RETURNING 1`;

/** Takes or renews the lease of a job for some milliseconds. Resolves with `false` while another process has it. */
export function createJobLease(
  run: RunQuery,
  { now, job }: { now(): Promise<number>; readonly job: string },
): (leaseMs: number) => Promise<boolean> {
  const holder = crypto.randomUUID();
  return async (leaseMs) => {
    const nowMs = await now();
    return (await run({ sql: LEASE, values: [job, holder, nowMs + leaseMs, nowMs] })).length > 0;
  };
}

/**
 * Encodes values as the text of a PostgreSQL array, which a statement casts to the type it needs.
 * @see https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO
 */
export function encodeArray(values: Iterable<Value>): string {
  let encoded = "";
  for (const value of values) {
    if (encoded !== "") encoded += ",";
    encoded +=
      typeof value === "string" ? `"${escapeQuotes(value)}"` : value === null ? "NULL" : String(value);
  }
  return `{${encoded}}`;
}

/**
 * Encodes rows as one array per column, for `unnest` of several arrays. All rows have the first row's length.
 */
export function encodeColumns(rows: readonly (readonly Value[])[]): string[] {
  const width = rows[0]?.length ?? 0;
  const columns: string[] = [];
  for (let column = 0; column < width; column++) {
    columns.push(encodeArray(rows.map((row) => row[column] ?? null)));
  }
  return columns;
}

/**
 * Encodes rows as one array of a row type, for `unnest`. For wide rows, the server needs half the time of one
 * array per column.
 * @see https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-IO-SYNTAX
 */
export function encodeRows(rows: readonly (readonly Value[])[]): string {
  return `{${rows.map((row) => `"(${row.map(encodeField).join()})"`).join()}}`;
}

function encodeField(value: Value): string {
  if (value === null) return "";
  if (typeof value === "string") return encodeText(value);
  return typeof value === "bigint" ? encodeInteger(value) : String(value);
}

/** Printing a number takes half the time of printing a bigint. */
function encodeInteger(value: bigint): string {
  const number = Number(value);
  return String(Number.isSafeInteger(number) ? number : value);
}

/** A text that means itself in a row without quotes. An empty text would mean null. */
const PLAIN = /^[\w.:/-]+$/;

/** Encodes a text of a row. A quote or backslash is escaped twice: for the row and for the array. */
function encodeText(text: string): string {
  if (PLAIN.test(text)) return text;
  const escaped = text.includes("\\") ? text.replaceAll("\\", "\\\\\\\\") : text;
  return `\\"${escaped.replaceAll('"', '\\"\\"')}\\"`;
}

function escapeQuotes(text: string): string {
  return /["\\]/.test(text) ? text.replace(/["\\]/g, "\\$&") : text;
}
