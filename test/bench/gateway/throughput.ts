import type { Contestant, Contestants } from "../contestants.ts";
import type { ClosedLoopResult } from "../loops.ts";
import { medianOf } from "../measurements.ts";
import { alternate } from "../rounds.ts";
import type { ServerCpu } from "../servers.ts";
import { warmUp } from "../warm-up.ts";
import type { Cell, Durations } from "./plan.ts";

/** Medians over the rounds of one closed loop. */
export interface Rate {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the process per answer, in microseconds. */
  readonly cpuUs: number;
}

/** Medians of the ratios of consecutive rounds, so that other load of the machine affects both. */
export interface Ratios {
  /** Of answers per second. */
  readonly ratio: number;
  /** Of CPU time per answer. Varies less than throughput on a shared machine. */
  readonly cpuRatio: number;
}

/** The gateway divided by the bare proxy. */
export interface CellResult extends Cell, Ratios {
  readonly proxy: Rate;
  readonly gateway: Rate;
  /** CPU time of the gateway's servers per answer, in microseconds. */
  readonly serverCpuUs: ServerCpu;
  /** The gateway divided by gateways of other forms. */
  readonly beside: readonly BesideResult[];
  /** Answers per second of the upstream without a proxy: the upper bound. */
  readonly ceilingPerSecond: number;
}

interface BesideResult extends Ratios {
  /** Such as "without Redis". */
  readonly label: string;
}

/** A closed loop and the CPU time per answer. */
export type MeasuredLoop = Pick<ClosedLoopResult, "perSecond" | "latencyMs"> & Pick<Rate, "cpuUs">;

interface Round extends MeasuredLoop {
  readonly serverCpuUs: ServerCpu;
}

/**
 * Measures proxy, gateway and the gateways beside it in turn, in several short rounds after a warm-up. Every second
 * round has the reverse order.
 */
export async function measureThroughput(
  { upstream, proxy, gateway, beside, servers }: Contestants,
  { rounds, roundMs, warmUpMs }: Pick<Durations, "rounds" | "roundMs" | "warmUpMs">,
  cell: Cell,
): Promise<CellResult> {
  const run = (contestant: Contestant, ms: number) => runRound(contestant, { ...cell, ms }, servers.cpu);
  const measured = [proxy, gateway, ...beside.map(({ contestant }) => contestant)];
  for (const contestant of [upstream, ...measured]) await warmUp(() => run(contestant, warmUpMs));
  const ceiling = await run(upstream, roundMs);

  const byContestant = await alternate(measured, rounds, (contestant) => run(contestant, roundMs));
  const [bare = [], ours = [], ...others] = byContestant;
  return {
    ...cell,
    proxy: rateOf(bare),
    gateway: rateOf(ours),
    ...ratiosOf(ours, bare),
    serverCpuUs: serverCpuOf(ours),
    beside: beside.map(({ label }, at) => ({ label, ...ratiosOf(ours, others[at] ?? []) })),
    ceilingPerSecond: ceiling.perSecond,
  };
}

async function runRound(
  contestant: Contestant,
  job: Cell & { readonly ms: number },
  serverCpu: () => ServerCpu,
): Promise<Round> {
  const before = contestant.cpuUs();
  const serverBefore = serverCpu();
  const result = await contestant.closedLoop(job);
  const server = serverCpu();
  const perAnswer = (after = 0, earlier = 0) => (after - earlier) / result.answers;
  return {
    ...result,
    cpuUs: perAnswer(contestant.cpuUs(), before),
    serverCpuUs: {
      ...("postgres" in server && { postgres: perAnswer(server.postgres, serverBefore.postgres) }),
      ...("redis" in server && { redis: perAnswer(server.redis, serverBefore.redis) }),
    },
  };
}

export function rateOf(rounds: readonly MeasuredLoop[]): Rate {
  const medianBy = (read: (round: MeasuredLoop) => number) => medianOf(rounds.map(read));
  return {
    perSecond: medianBy((round) => round.perSecond),
    p50Ms: medianBy((round) => round.latencyMs.p50),
    p99Ms: medianBy((round) => round.latencyMs.p99),
    cpuUs: medianBy((round) => round.cpuUs),
  };
}

/** Leaves out rounds in which a busy machine gave no answer in time. */
export function ratiosOf(rounds: readonly MeasuredLoop[], others: readonly MeasuredLoop[]): Ratios {
  const pairs = rounds.flatMap((ours, at) => {
    const other = others[at];
    return other && ours.perSecond > 0 && other.perSecond > 0 ? [{ ours, other }] : [];
  });
  return {
    ratio: medianOf(pairs.map(({ ours, other }) => ours.perSecond / other.perSecond)),
    cpuRatio: medianOf(pairs.map(({ ours, other }) => ours.cpuUs / other.cpuUs)),
  };
}

function serverCpuOf(rounds: readonly Round[]): ServerCpu {
  const medianBy = (name: keyof ServerCpu) => {
    const values = rounds.flatMap(({ serverCpuUs }) => serverCpuUs[name] ?? []);
    return values.length > 0 ? { [name]: medianOf(values) } : {};
  };
  return { ...medianBy("postgres"), ...medianBy("redis") };
}
