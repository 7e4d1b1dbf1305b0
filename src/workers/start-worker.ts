import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** More than a thread opens before its script runs. */
const FILES_NEEDED = 16;

/**
 * Starts a worker thread. Throws where the process can open fewer than 16 files more: Bun 1.4.5 ends the whole
 * process when a thread finds none.
 */
export function startWorker(script: URL, options?: WorkerOptions): Worker {
  const opened: number[] = [];
  try {
    while (opened.length < FILES_NEEDED) opened.push(openSync(devNull, "r"));
  } finally {
    for (const file of opened) closeSync(file);
  }
  return new Worker(script, options);
}
