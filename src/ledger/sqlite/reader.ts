import { Worker } from "node:worker_threads";
import { LedgerError } from "../ledger.ts";
import type { Ask, Row } from "../queries/query.ts";
import type { ReadAnswer, ReadQuestion, ReadWorkerData } from "./read-worker.ts";

/** Reads a SQLite file away from the event loop. */
export interface Reader {
  /** Rejects with `unavailable` when the books cannot be read, or not in time. */
  readonly ask: Ask;
  /** Ends the worker; what was asked is refused as `unavailable`. */
  close(): void;
}

export interface ReaderOptions {
  readonly path: string;
  /** The worker's script. */
  readonly script?: URL;
  /** How long one answer may take, those before it included. SQLite itself is not stopped: it ends that read unheard. */
  readonly answerMsMax?: number;
}

/** Questions that wait at most; each is answered after those before it. */
const WAITING_MAX = 256;
const ANSWER_MS_MAX = 60_000;
const SCRIPT = new URL("./read-worker.ts", import.meta.url);

interface Waiting {
  readonly resolve: (rows: readonly Row[]) => void;
  readonly reject: (error: LedgerError) => void;
  readonly tooLate: Timer;
}

/** A worker with a connection of its own, started with the first question; one that died is replaced by the next. */
export function createReader({ path, script = SCRIPT, answerMsMax = ANSWER_MS_MAX }: ReaderOptions): Reader {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let asked = 0;
  let isClosed = false;

  function start(): Worker {
    const workerData: ReadWorkerData = { path };
    const started = new Worker(script, { workerData });
    started.on("message", hear);
    for (const event of ["error", "exit"]) {
      started.on(event, (reason) => worker === started && end(reason));
    }
    // Only now, for listening to it counts as waiting. Whoever waits for an answer has a timer that does.
    started.unref();
    return started;
  }

  function hear(answer: ReadAnswer): void {
    const asker = waiting.get(answer.number);
    if (!asker) return;
    forget(answer.number, asker);
    if ("rows" in answer) asker.resolve(answer.rows);
    else asker.reject(new LedgerError("unavailable", new Error(answer.fault)));
  }

  /** The worker died, hangs, or is not needed any more: nobody waits for it in vain. */
  function end(reason: unknown): void {
    void worker?.terminate();
    worker = undefined;
    for (const [number, asker] of waiting) {
      forget(number, asker);
      asker.reject(new LedgerError("unavailable", reason));
    }
  }

  function forget(number: number, asker: Waiting): void {
    clearTimeout(asker.tooLate);
    waiting.delete(number);
  }

  return {
    async ask({ sql, values }) {
      if (isClosed || waiting.size >= WAITING_MAX) throw new LedgerError("unavailable");
      const { promise, resolve, reject } = Promise.withResolvers<readonly Row[]>();
      const tooLate = setTimeout(() => end(new Error("The read took too long")), answerMsMax);
      const number = ++asked;
      waiting.set(number, { resolve, reject, tooLate });
      worker ??= start();
      const question: ReadQuestion = { number, sql, values };
      worker.postMessage(question);
      return promise;
    },
    close() {
      isClosed = true;
      end(new Error("The ledger is closed"));
    },
  };
}
