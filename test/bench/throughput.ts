import type { ClosedLoopResult } from "./closed-loop.ts";
import type { Contestant, Contestants } from "./contestants.ts";
import { cpuUs } from "./cpu-time.ts";
import { medianOf } from "./percentiles.ts";
import type { Cell, Plan } from "./plan.ts";

/** Medians over the rounds of one closed loop. */
interface Rate {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the contestant's process for one answer, in microseconds. */
  readonly cpuUs: number;
}

/** One closed loop and the processor time of one of its answers. */
interface Round extends ClosedLoopResult {
  readonly cpuUs: number;
}

export interface CellResult extends Cell {
  readonly proxy: Rate;
  readonly gateway: Rate;
  /** Median of the ratios of neighbouring rounds: what else the machine did then hit both. */
  readonly ratio: number;
  /** Median of the ratios of processor time per answer; scatters less than throughput on a shared machine. */
  readonly cpuRatio: number;
  /** What the upstream answers the generator without anybody between: nothing can be faster. */
  readonly ceilingPerSecond: number;
}

/** Drives proxy and gateway in turn, in several short rounds. */
export async function measureThroughput(
  { upstream, proxy, gateway }: Contestants,
  plan: Plan,
  cell: Cell,
): Promise<CellResult> {
  const run = (contestant: Contestant, ms: number) => runRound(contestant, cell, ms);
  for (const contestant of [upstream, proxy, gateway]) await run(contestant, plan.warmUpMs);
  const ceiling = await run(upstream, plan.roundMs);

  const proxyRounds: Round[] = [];
  const gatewayRounds: Round[] = [];
  const ratios: number[] = [];
  const cpuRatios: number[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    const bare = await run(proxy, plan.roundMs);
    const ours = await run(gateway, plan.roundMs);
    proxyRounds.push(bare);
    gatewayRounds.push(ours);
    ratios.push(ours.perSecond / bare.perSecond);
    cpuRatios.push(ours.cpuUs / bare.cpuUs);
  }
  return {
    ...cell,
    proxy: rateOf(proxyRounds),
    gateway: rateOf(gatewayRounds),
    ratio: medianOf(ratios),
    cpuRatio: medianOf(cpuRatios),
    ceilingPerSecond: ceiling.perSecond,
  };
}

async function runRound(contestant: Contestant, cell: Cell, ms: number): Promise<Round> {
  const before = cpuUs(contestant.pid);
  const result = await contestant.closedLoop({ ...cell, ms });
  return { ...result, cpuUs: (cpuUs(contestant.pid) - before) / result.answers };
}

function rateOf(rounds: readonly Round[]): Rate {
  return {
    perSecond: medianOf(rounds.map((round) => round.perSecond)),
    p50Ms: medianOf(rounds.map((round) => round.latencyMs.p50)),
    p99Ms: medianOf(rounds.map((round) => round.latencyMs.p99)),
    cpuUs: medianOf(rounds.map((round) => round.cpuUs)),
  };
}
