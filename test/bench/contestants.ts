import { startChild } from "./child.ts";
import type { ClosedLoop, ClosedLoopResult } from "./closed-loop.ts";
import type { Target } from "./connection.ts";
import { type BenchGateway, type Offer, startGateway } from "./gateway.ts";
import { type Load, startLoad } from "./load.ts";
import type { OpenLoop, OpenLoopResult } from "./open-loop.ts";
import type { Tally } from "./tally.ts";

/** One of the three that are measured, and what it has answered so far. Throws on the first wrong answer. */
export interface Contestant {
  readonly name: "upstream" | "proxy" | "gateway";
  readonly pid: number;
  readonly answers: number;
  closedLoop(job: Omit<ClosedLoop, "target">): Promise<ClosedLoopResult>;
  openLoop(job: Omit<OpenLoop, "target">): Promise<OpenLoopResult>;
  /** Runs `act` while so many streams are open, then lets them end. */
  withOpenStreams<T>(count: number, act: () => Promise<T>): Promise<T>;
}

export interface Contestants {
  readonly upstream: Contestant;
  readonly proxy: Contestant;
  readonly gateway: Contestant;
  readonly gatewayProcess: BenchGateway;
  stop(): Promise<void>;
}

/** Starts everything, each as its own process on loopback. The gateway can have more to offer than the upstream. */
export async function startContestants(offer?: Offer): Promise<Contestants> {
  const upstream = await startChild("upstream-process.ts");
  const proxy = await startChild("proxy-process.ts", [upstream.url]);
  const gatewayProcess = await startGateway(upstream.url, {}, offer);
  const load = startLoad();
  const contestantOf = (
    name: Contestant["name"],
    { url, pid, secret = "" }: { url: string; pid: number; secret?: string },
  ) => createContestant({ name, pid, load, target: { url, secret }, upstreamUrl: upstream.url });
  return {
    upstream: contestantOf("upstream", upstream),
    proxy: contestantOf("proxy", proxy),
    gateway: contestantOf("gateway", gatewayProcess),
    gatewayProcess,
    async stop() {
      await Promise.all([load.stop(), gatewayProcess.remove()]);
      await Promise.all([proxy.stop(), upstream.stop()]);
    },
  };
}

interface ContestantParts {
  readonly name: Contestant["name"];
  readonly pid: number;
  readonly load: Load;
  readonly target: Target;
  readonly upstreamUrl: string;
}

function createContestant({ name, pid, load, target, upstreamUrl }: ContestantParts): Contestant {
  let answers = 0;

  function count<Result extends Tally>(result: Result): Result {
    if (result.faults.length > 0)
      throw new Error(`The ${name} answered wrongly: ${result.faults.join("; ")}`);
    answers += result.answers;
    return result;
  }

  return {
    name,
    pid,
    get answers() {
      return answers;
    },
    closedLoop: async (job) => count(await load.closedLoop({ ...job, target })),
    openLoop: async (job) => count(await load.openLoop({ ...job, target })),
    async withOpenStreams(streams, act) {
      await load.openStreams(target, streams);
      const result = await act();
      await fetch(`${upstreamUrl}/finish`);
      count(await load.awaitStreams());
      return result;
    },
  };
}
