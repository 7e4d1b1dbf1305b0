import { parentPort } from "node:worker_threads";
import type { Job } from "../../src/bodies/body-jobs.ts";

// Answers facts, dies when asked for a prompt, and hangs when asked for a count.
parentPort?.on("message", (job: Job) => {
  const ask = job.kind === "body" ? job.question.ask : "answer";
  if (ask === "prompt") throw new Error("dies, on purpose");
  if (ask === "count") for (;;);
  const { blocks } = job;
  parentPort?.postMessage(
    { result: { model: `${blocks.length}` }, blocks },
    // Safe because blocks of tests have buffers of their own.
    blocks.map(({ buffer }) => buffer as ArrayBuffer),
  );
});
