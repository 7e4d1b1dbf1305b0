import { parentPort } from "node:worker_threads";
import type { Job } from "../../src/bodies/body-jobs.ts";

// Answers questions, but dies on one for a prompt and hangs on one for a count.
parentPort?.on("message", (job: Job) => {
  const ask = job.kind === "body" ? job.question.ask : "answer";
  if (ask === "prompt") throw new Error("died on purpose");
  if (ask === "count") for (;;);
  const { blocks } = job;
  parentPort?.postMessage(
    { result: { model: `${blocks.length}` }, blocks },
    // Safe because each block of a test has its own buffer.
    blocks.map(({ buffer }) => buffer as ArrayBuffer),
  );
});
