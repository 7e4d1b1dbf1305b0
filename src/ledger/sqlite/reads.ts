import type { Database } from "bun:sqlite";
import type { Worker } from "node:worker_threads";
import { platform } from "../../platform.ts";
import { startWorker } from "../../workers/start-worker.ts";
import { LedgerError } from "../ledger.ts";
import { type QueryValue, type Row, type RunQuery, SQLITE } from "../queries/query.ts";
import { createLedgerReads } from "../queries/reads.ts";
import type { LedgerReads } from "../records.ts";
import type { ReadReply, ReadRequest, ReadWorkerData } from "./read-worker.ts";

export interface SqliteReadsParts {
  /** An open connection to the file, for short queries on the event loop. */
  readonly client: Database;
  readonly path: string;
  readonly now: () => number;
  /** Runs the long queries. Default: a reader of its own. */
  readonly reader?: WorkerReader;
}

export interface SqliteReads extends LedgerReads {
  /** Ends the worker. Pending reads fail as `unavailable`. */
  close(): void;
}

/** Creates the reads of a SQLite ledger. Lists and sums run in a worker, which the first of them starts. */
export function createSqliteReads(parts: SqliteReadsParts): SqliteReads {
  const { client, path, now, reader = createWorkerReader({ path }) } = parts;
  const database = { dialect: SQLITE, runShort: createInlineReader(client), runLong: reader.run };
  return { ...createLedgerReads(database, now), close: reader.close };
}

/** Runs queries on the event loop. */
export function createInlineReader(client: Database): RunQuery {
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

/** Reads a SQLite file off the event loop. */
export interface WorkerReader {
  /** Rejects with `unavailable` when the file cannot be read, or not in time. */
  readonly run: RunQuery;
  /** Ends the worker. Pending queries fail as `unavailable`. */
  close(): void;
}

export interface WorkerReaderOptions {
  readonly path: string;
  /** The worker's script. */
  readonly script?: URL;
  /** Milliseconds that a query may take, with those queued before it. SQLite runs a late query to its end. */
  readonly replyMsMax?: number;
}

/** The most queries that may be pending. The worker runs them in order. */
const PENDING_MAX = 256;
const REPLY_MS_MAX = 60_000;
const SCRIPT = new URL("./read-worker.ts", import.meta.url);

interface PendingQuery {
  readonly resolve: (rows: readonly Row[]) => void;
  readonly reject: (error: LedgerError) => void;
  readonly timeout: Timer;
}

/** The first query starts a worker with a connection of its own. The query after its death starts another. */
export function createWorkerReader(options: WorkerReaderOptions): WorkerReader {
  const { path, script = SCRIPT, replyMsMax = REPLY_MS_MAX } = options;
  const pending = new Map<number, PendingQuery>();
  let worker: Worker | undefined;
  let lastNumber = 0;
  let isClosed = false;

  function start(): Worker {
    const workerData: ReadWorkerData = { path };
    const started = startWorker(script, { workerData });
    started.on("message", receive);
    for (const event of ["error", "exit"]) {
      started.on(event, (reason) => worker === started && end(reason));
    }
    // After `on`, which refs the worker again. The timeout of a pending query keeps the process alive.
    started.unref();
    return started;
  }

  function receive(reply: ReadReply): void {
    const query = pending.get(reply.number);
    if (!query) return;
    remove(reply.number, query);
    if ("rows" in reply) query.resolve(reply.rows);
    else query.reject(new LedgerError("unavailable", new Error(reply.fault)));
  }

  /** Ends a worker that died, hangs, or is no longer needed, and fails the pending queries. */
  function end(reason: unknown): void {
    void worker?.terminate();
    worker = undefined;
    for (const [number, query] of pending) {
      remove(number, query);
      query.reject(new LedgerError("unavailable", reason));
    }
  }

  function remove(number: number, query: PendingQuery): void {
    platform.clearTimeout(query.timeout);
    pending.delete(number);
  }

  return {
    async run({ sql, values }) {
      if (isClosed || pending.size >= PENDING_MAX) throw new LedgerError("unavailable");
      const { promise, resolve, reject } = Promise.withResolvers<readonly Row[]>();
      const timeout = platform.setTimeout(() => end(new Error("The read took too long")), replyMsMax);
      const number = ++lastNumber;
      pending.set(number, { resolve, reject, timeout });
      const request: ReadRequest = { number, sql, values };
      try {
        worker ??= start();
        worker.postMessage(request);
      } catch (fault) {
        end(fault);
      }
      return promise;
    },
    close() {
      isClosed = true;
      end(new Error("The ledger is closed"));
    },
  };
}
