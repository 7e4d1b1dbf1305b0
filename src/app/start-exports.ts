import type { Worker } from "node:worker_threads";
import type { DatabaseLocation } from "../db/location.ts";
import type { ExportConfig } from "../exports/export-config.ts";
import type { ExportMessage, ExportWorkerData } from "../exports/export-worker.ts";
import { waitAtMost } from "../platform.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import { startWorker } from "../workers/start-worker.ts";

/** What this process has exported since its start. */
interface ExportCounts {
  lines: number;
  /** Tries that failed, and lines that a receiver rejected. */
  failures: number;
}

/** The exports of usage of one process. */
export interface RunningExports {
  readonly counts: ReadonlyMap<string, ExportCounts>;
  /** Replaces the exports. Those running end, and go on from their cursors. */
  apply(exports: readonly ExportConfig[]): void;
  /** Ends running tries. Resolves when the worker has ended, after at most 3 s. */
  close(): Promise<void>;
}

const SCRIPT = new URL("../exports/export-worker.ts", import.meta.url);
/** The wait before a worker that died is started again. */
const RESTART_MS = 10_000;
const CLOSE_MS = 3_000;
/** A failing export is logged at its first failure, and then once in so many. */
const LOGGED_EVERY = 20;

/** Runs the exports of a ledger's database in a worker, which starts with the first export. */
export function startExports(
  location: DatabaseLocation,
  given: readonly ExportConfig[],
  log: Log,
): RunningExports {
  const counts = new Map<string, ExportCounts>();
  let exports = given;
  let worker: Worker | undefined;
  let restart: Timer | undefined;
  let ending: Promise<void> = Promise.resolve();
  let isClosed = false;

  const startLater = () => {
    restart = setTimeout(start, RESTART_MS);
    restart.unref();
  };
  const start = () => {
    if (isClosed || worker || exports.length === 0) return;
    const workerData: ExportWorkerData = { location, exports };
    try {
      worker = follow(startWorker(SCRIPT, { workerData }));
    } catch (fault) {
      log.error(describeFault(fault), "usage exports failed");
      startLater();
    }
  };
  const follow = (started: Worker): Worker => {
    started.on("message", (message: ExportMessage) => take(message, counts, log));
    started.on("error", (fault) => log.error(describeFault(fault), "usage exports failed"));
    started.on("exit", () => {
      if (worker !== started) return;
      worker = undefined;
      startLater();
    });
    started.unref();
    return started;
  };
  const stop = () => {
    clearTimeout(restart);
    const stopped = worker;
    worker = undefined;
    if (stopped) ending = end(stopped);
    return ending;
  };

  for (const { name } of exports) counts.set(name, { lines: 0, failures: 0 });
  start();
  return {
    counts,
    apply(next) {
      if (Bun.deepEquals(next, exports, true)) return;
      exports = next;
      for (const { name } of exports) if (!counts.has(name)) counts.set(name, { lines: 0, failures: 0 });
      void stop().then(start);
    },
    close() {
      isClosed = true;
      return stop();
    },
  };
}

/** Lets a worker end its tries and give its leases back, then ends it. */
async function end(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  worker.on("exit", () => resolve());
  worker.postMessage("end");
  await waitAtMost(CLOSE_MS, promise);
  await worker.terminate();
}

function take(message: ExportMessage, counts: Map<string, ExportCounts>, log: Log): void {
  const { name } = message;
  const count = counts.get(name) ?? { lines: 0, failures: 0 };
  counts.set(name, count);
  if (message.kind === "failed") {
    count.failures += 1;
    const { problem, failures } = message;
    if (failures % LOGGED_EVERY === 1) log.warn({ export: name, problem, failures }, "usage export failing");
    return;
  }
  count.lines += message.lines;
  count.failures += message.rejected;
  if (message.rejected > 0) log.error({ export: name, records: message.rejected }, "usage export rejected");
}
