import { Worker, type WorkerOptions } from "node:worker_threads";
import { requireFreeFiles } from "../program-files.ts";

/** Starts a worker thread. Throws where the process can open too few files. */
export function startWorker(script: URL, options?: WorkerOptions): Worker {
  requireFreeFiles();
  return new Worker(script, options);
}
