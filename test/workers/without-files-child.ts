// Opens every file that it may, then asks a worker for a job. Prints what became of the job, and of a second one
// after files are free again.
import { closeSync, openSync } from "node:fs";
import { createWorkerQueue } from "../../src/workers/worker-queue.ts";
import type { ScriptedJob } from "./scripted-worker.ts";

const queue = createWorkerQueue<ScriptedJob, string>({
  name: "test worker",
  script: new URL("./scripted-worker.ts", import.meta.url),
  jobMsMax: 30_000,
});
const run = () =>
  queue.run("owner", { do: "echo", value: "done" }).then(console.log, ({ message }) => console.log(message));
const files: number[] = [];
try {
  for (;;) files.push(openSync("/dev/null", "r"));
} catch {
  await run();
}
for (const file of files) closeSync(file);
await run();
queue.close();
