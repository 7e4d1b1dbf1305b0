import { parentPort } from "node:worker_threads";

/** A job of the test: each is executed before the next one. */
export type ScriptedJob =
  | { readonly do: "echo"; readonly value: string }
  | { readonly do: "sleep"; readonly ms: number }
  /** Answers, and dies shortly after. */
  | { readonly do: "dieLater" }
  | { readonly do: "die" }
  | { readonly do: "hang" };

let done = 0;

parentPort?.on("message", (job: ScriptedJob) => {
  if (job.do === "die") throw new Error("died on purpose");
  while (job.do === "hang") Bun.sleepSync(10);
  if (job.do === "sleep") Bun.sleepSync(job.ms);
  if (job.do === "dieLater") setTimeout(() => process.exit(1), 10);
  done += 1;
  parentPort?.postMessage(job.do === "echo" ? job.value : `job ${done}`);
});
