import { Worker } from "node:worker_threads";
import type { CheckAnswer, CheckQuestion } from "./check-worker.ts";
import type { CheckedFile } from "./file.ts";
import { ConfigError } from "./problems.ts";

/** For a check that hangs. A file of the largest size takes a second or two of a free processor. */
const CHECK_MS_MAX = 60_000;

/**
 * Checks a file on a thread of its own, which ends with the check: a large file takes longer than requests may
 * wait for the event loop. Rejects with {@link ConfigError}, and with an error when the thread fails or hangs.
 */
export async function checkFileInWorker({ environment, ...question }: CheckQuestion): Promise<CheckedFile> {
  const { promise, resolve, reject } = Promise.withResolvers<CheckAnswer>();
  const worker = new Worker(new URL("./check-worker.ts", import.meta.url));
  // The process ends when it wants to.
  worker.unref();
  worker.on("message", resolve);
  worker.on("error", reject);
  worker.on("exit", () => reject(new Error("The thread that checks the configuration has ended")));
  const late = () => reject(new Error("The configuration was not checked in time"));
  const timer = setTimeout(late, CHECK_MS_MAX);
  timer.unref();
  try {
    // Copied, because the process's own environment cannot be sent.
    worker.postMessage({ ...question, environment: { ...environment } } satisfies CheckQuestion);
    const answer = await promise;
    if ("problems" in answer) throw new ConfigError(answer.problems);
    return answer.file;
  } finally {
    clearTimeout(timer);
    void worker.terminate();
  }
}
