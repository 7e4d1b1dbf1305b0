import { type Nanos, printUsd } from "../../src/domain/money.ts";
import type { AgentPlay, AgentPlayResult } from "./agents/play.ts";
import type { Target } from "./connection.ts";
import { type Form, formsBeside } from "./form.ts";
import type { LoadJob } from "./load-process.ts";
import type { ClosedLoop, ClosedLoopResult, OpenLoop, OpenLoopResult } from "./loops.ts";
import type { Tally } from "./measurements.ts";
import { cpuUs } from "./process-stats.ts";
import { startChild, startJobProcess } from "./processes.ts";
import { type BenchServers, startServers } from "./servers.ts";
import { type BenchGateway, COST, type ExtraConfig, startGateway, TOP_UP } from "./start-gateway.ts";

/** One of the measured processes, and the number of its answers. Throws on the first wrong answer. */
export interface Contestant {
  readonly name: "upstream" | "proxy" | "gateway";
  readonly pid: number;
  /** CPU time so far, in microseconds. */
  cpuUs(): number;
  readonly answers: number;
  closedLoop(job: Omit<ClosedLoop, "target">): Promise<ClosedLoopResult>;
  openLoop(job: Omit<OpenLoop, "target">): Promise<OpenLoopResult>;
  /** Runs `act` while this many streams are open, and then ends them. */
  withOpenStreams<T>(count: number, act: () => Promise<T>): Promise<T>;
}

/** A gateway of another form. */
interface BesideContestant {
  /** Such as "without Redis". */
  readonly label: string;
  readonly contestant: Contestant;
}

export interface Contestants {
  readonly upstream: Contestant;
  readonly proxy: Contestant;
  readonly gateway: Contestant;
  readonly gatewayProcess: BenchGateway;
  /** Gateways of simpler forms: see {@link formsBeside}. */
  readonly beside: readonly BesideContestant[];
  /** The servers of the gateway and of those beside it. */
  readonly servers: BenchServers;
  stop(): Promise<void>;
}

const DEFAULT_FORM: Form = { database: "sqlite", hasRedis: false };

/**
 * Starts upstream, proxy and gateways, each in a process of its own. `offer` adds models to the gateways;
 * `form` is that of the gateway, `others` those of the gateways beside it.
 */
export async function startContestants(
  offer?: ExtraConfig,
  form = DEFAULT_FORM,
  others = formsBeside(form),
): Promise<Contestants> {
  const upstream = await startChild("upstream-process.ts");
  const proxy = await startChild("proxy-process.ts", [upstream.url]);
  const servers = await startServers([form, ...others]);
  const startOf = async (each: Form) => startGateway(upstream.url, await servers.environmentFor(each), offer);
  const gatewayProcess = await startOf(form);
  const besideProcesses: { readonly label: string; readonly process: BenchGateway }[] = [];
  for (const other of others) besideProcesses.push({ label: other.label, process: await startOf(other) });
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
    beside: besideProcesses.map(({ label, process }) => ({
      label,
      contestant: contestantOf("gateway", process),
    })),
    servers,
    async stop() {
      const gateways = [gatewayProcess, ...besideProcesses.map(({ process }) => process)];
      await Promise.all([load.stop(), ...gateways.map((each) => each.remove())]);
      await Promise.all([proxy.stop(), upstream.stop(), servers.stop()]);
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
    cpuUs: () => cpuUs(pid),
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

/** The load generator in a process of its own. One job at a time. */
export interface Load {
  closedLoop(job: ClosedLoop): Promise<ClosedLoopResult>;
  openLoop(job: OpenLoop): Promise<OpenLoopResult>;
  playAgents(job: AgentPlay): Promise<AgentPlayResult>;
  /** Resolves when every stream has begun. */
  openStreams(target: Target, count: number): Promise<void>;
  /** Resolves when every open stream has ended. */
  awaitStreams(): Promise<Tally>;
  stop(): Promise<void>;
}

export function startLoad(): Load {
  const { perform, stop } = startJobProcess<LoadJob>("load-process.ts");

  // Safe because load-process.ts answers each job with a result of its kind.
  const performAs = async <Result>(job: LoadJob): Promise<Result> => (await perform(job)) as Result;

  return {
    closedLoop: (job) => performAs({ do: "closed_loop", ...job }),
    openLoop: (job) => performAs({ do: "open_loop", ...job }),
    playAgents: (job) => performAs({ do: "play_agents", ...job }),
    openStreams: (target, count) => performAs({ do: "open_streams", target, count }),
    awaitStreams: () => performAs({ do: "await_streams" }),
    stop,
  };
}

/** Whether the gateway charged exactly its answers. */
export interface MoneyResult {
  readonly requests: number;
  readonly chargedUsd: string;
  readonly expectedUsd: string;
  readonly heldUsd: string;
  readonly auditIsClean: boolean;
  readonly isRight: boolean;
}

/** Stops the gateway and compares its wallet with its answers. */
export async function checkMoney({
  gateway,
  gatewayProcess,
}: {
  readonly gateway: Pick<Contestant, "answers">;
  readonly gatewayProcess: BenchGateway;
}): Promise<MoneyResult> {
  await gatewayProcess.stop();
  const { posted, held } = await gatewayProcess.wallet();
  const auditIsClean = await gatewayProcess.isAuditClean();
  const expected: Nanos = BigInt(gateway.answers) * COST;
  return {
    requests: gateway.answers,
    chargedUsd: printUsd(TOP_UP - posted),
    expectedUsd: printUsd(expected),
    heldUsd: printUsd(held),
    auditIsClean,
    isRight: TOP_UP - posted === expected && held === 0n && auditIsClean,
  };
}
