import { createWorkerQueue } from "../workers/worker-queue.ts";
import type { CheckAnswer, CheckQuestion } from "./check-worker.ts";
import type { CheckedFile } from "./file.ts";
import { ConfigError } from "./problems.ts";

/** Timeout of a check. A file of the largest size takes one or two seconds of a free processor. */
const CHECK_MS_MAX = 60_000;

/**
 * Checks a file in a worker thread that ends with the check: a large file would block the event loop for too
 * long. Rejects with {@link ConfigError}, or with another error when the thread dies or hangs.
 */
export async function checkFileInWorker({ environment, ...question }: CheckQuestion): Promise<CheckedFile> {
  const worker = createWorkerQueue<CheckQuestion, CheckAnswer>({
    name: "configuration check",
    script: new URL("./check-worker.ts", import.meta.url),
    jobMsMax: CHECK_MS_MAX,
  });
  try {
    // Copied, because the process's own environment cannot be sent.
    const answer = await worker.run("", { ...question, environment: { ...environment } });
    if ("problems" in answer) throw new ConfigError(answer.problems);
    return answer.file;
  } finally {
    worker.close();
  }
}
