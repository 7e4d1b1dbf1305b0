import type { ClosedLoop, ClosedLoopResult } from "./closed-loop.ts";
import type { Target } from "./connection.ts";
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

interface LoadMessage {
  readonly result?: unknown;
  readonly failure?: string;
}

export function startLoad(): Load {
  let answer = Promise.withResolvers<unknown>();
  const child = Bun.spawn(["bun", `${import.meta.dir}/load-process.ts`], {
    stdout: "inherit",
    stderr: "inherit",
    ipc({ result, failure }: LoadMessage) {
      if (failure === undefined) answer.resolve(result);
      else answer.reject(new Error(`The load generator failed: ${failure}`));
    },
    onExit: () => answer.reject(new Error("The load generator ended")),
  });
  // A generator that ends while it has no job is nobody's failure.
  answer.promise.catch(() => {});

  async function perform<Result>(job: LoadJob): Promise<Result> {
    answer = Promise.withResolvers();
    child.send(job);
    // Safe because load-process.ts answers every kind of job with the result of that kind.
    return (await answer.promise) as Result;
  }

  return {
    closedLoop: (job) => perform({ do: "closed_loop", ...job }),
    openLoop: (job) => perform({ do: "open_loop", ...job }),
    openStreams: (target, count) => perform({ do: "open_streams", target, count }),
    awaitStreams: () => perform({ do: "await_streams" }),
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}
