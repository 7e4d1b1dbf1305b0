import type { ClosedLoop, ClosedLoopResult } from "./closed-loop.ts";
import type { Target } from "./connection.ts";
import { startJobProcess } from "./job-process.ts";
import type { LoadJob } from "./load-process.ts";
import type { OpenLoop, OpenLoopResult } from "./open-loop.ts";
import type { Tally } from "./tally.ts";

/** The load generator in its own process. One job at a time. */
export interface Load {
  closedLoop(job: ClosedLoop): Promise<ClosedLoopResult>;
  openLoop(job: OpenLoop): Promise<OpenLoopResult>;
  /** Resolves when every stream has begun. */
  openStreams(target: Target, count: number): Promise<void>;
  /** Resolves when every open stream has ended. */
  awaitStreams(): Promise<Tally>;
  stop(): Promise<void>;
}

export function startLoad(): Load {
  const { perform, stop } = startJobProcess<LoadJob>("load-process.ts");

  // Safe because load-process.ts answers every kind of job with the result of that kind.
  const performAs = async <Result>(job: LoadJob): Promise<Result> => (await perform(job)) as Result;

  return {
    closedLoop: (job) => performAs({ do: "closed_loop", ...job }),
    openLoop: (job) => performAs({ do: "open_loop", ...job }),
    openStreams: (target, count) => performAs({ do: "open_streams", target, count }),
    awaitStreams: () => performAs({ do: "await_streams" }),
    stop,
  };
}
