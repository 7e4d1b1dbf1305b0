import { Database, SQLiteError } from "bun:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { Query, Row } from "../queries/query.ts";

/** A query sent to the worker. */
export interface ReadRequest extends Query {
  readonly number: number;
}

/** The worker's reply to the request of the same number. */
export type ReadReply =
  | { readonly number: number; readonly rows: readonly Row[] }
  | { readonly number: number; readonly fault: string };

/** Milliseconds that a read waits while another process recovers the database after a crash. */
const BUSY_MS = 5_000;

// Safe because reads.ts starts the worker with a ReadWorkerData.
const { path } = workerData as ReadWorkerData;
const client = new Database(path, { readonly: true, strict: true });
client.run(`PRAGMA busy_timeout = ${BUSY_MS}`);

export interface ReadWorkerData {
  readonly path: string;
}

parentPort?.on("message", (request: ReadRequest) => parentPort?.postMessage(replyTo(request)));

function replyTo({ number, sql, values }: ReadRequest): ReadReply {
  try {
    return { number, rows: readRows(sql, values) };
  } catch (error) {
    return { number, fault: error instanceof SQLiteError ? (error.code ?? error.message) : String(error) };
  }
}

/** Does not cache statements: filters make many different ones. */
function readRows(sql: string, values: Query["values"]): readonly Row[] {
  using statement = client.prepare<Row, Query["values"][number][]>(sql);
  return statement.safeIntegers(true).all(...values);
}
