import { type AgentPlay, playAgents } from "./agents/play.ts";
import type { Target } from "./connection.ts";
import {
  type ClosedLoop,
  type OpenLoop,
  type OpenStreams,
  openStreams,
  runClosedLoop,
  runOpenLoop,
} from "./loops.ts";
import { answerJobs } from "./processes.ts";

/** A job of the load generator. */
export type LoadJob =
  | ({ readonly do: "closed_loop" } & ClosedLoop)
  | ({ readonly do: "open_loop" } & OpenLoop)
  | ({ readonly do: "play_agents" } & AgentPlay)
  | { readonly do: "open_streams"; readonly target: Target; readonly count: number }
  | { readonly do: "await_streams" };

let streams: OpenStreams | undefined;

answerJobs<LoadJob>(async (job) => {
  if (job.do === "closed_loop") return runClosedLoop(job);
  if (job.do === "open_loop") return runOpenLoop(job);
  if (job.do === "play_agents") return playAgents(job);
  if (job.do === "await_streams") return streams?.ended();
  streams = await openStreams(job.target, job.count);
  return undefined;
});
