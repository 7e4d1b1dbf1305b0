import { type ClosedLoop, runClosedLoop } from "./closed-loop.ts";
import type { Target } from "./connection.ts";
import { answerJobs } from "./job-process.ts";
import { type OpenLoop, runOpenLoop } from "./open-loop.ts";
import { type OpenStreams, openStreams } from "./open-streams.ts";

/** One job for the load generator, which answers every one with one message. */
export type LoadJob =
  | ({ readonly do: "closed_loop" } & ClosedLoop)
  | ({ readonly do: "open_loop" } & OpenLoop)
  | { readonly do: "open_streams"; readonly target: Target; readonly count: number }
  | { readonly do: "await_streams" };

let streams: OpenStreams | undefined;

answerJobs<LoadJob>(async (job) => {
  if (job.do === "closed_loop") return runClosedLoop(job);
  if (job.do === "open_loop") return runOpenLoop(job);
  if (job.do === "await_streams") return streams?.ended();
  streams = await openStreams(job.target, job.count);
  return undefined;
});
