import { Database, SQLiteError } from "bun:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { Query, Row } from "../queries/query.ts";

/** What the worker is asked, and what it answers under the same number. */
export interface ReadQuestion extends Query {
  readonly number: number;
}

export type ReadAnswer =
  | { readonly number: number; readonly rows: readonly Row[] }
  | { readonly number: number; readonly fault: string };

/** How long a read waits where another process brings the database back after a crash. */
const BUSY_MS = 5_000;

// Safe because whoever starts the worker gives it a ReadWorkerData.
const { path } = workerData as ReadWorkerData;
const client = new Database(path, { readonly: true, strict: true });
client.run(`PRAGMA busy_timeout = ${BUSY_MS}`);

export interface ReadWorkerData {
  readonly path: string;
}

parentPort?.on("message", (question: ReadQuestion) => parentPort?.postMessage(answer(question)));

function answer({ number, sql, values }: ReadQuestion): ReadAnswer {
  try {
    return { number, rows: readRows(sql, values) };
  } catch (error) {
    return { number, fault: error instanceof SQLiteError ? (error.code ?? error.message) : String(error) };
  }
}

/** Keeps no statement: filters make many different ones. */
function readRows(sql: string, values: Query["values"]): readonly Row[] {
  using statement = client.prepare<Row, Query["values"][number][]>(sql);
  return statement.safeIntegers(true).all(...values);
}
