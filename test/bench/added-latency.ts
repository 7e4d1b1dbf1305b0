import type { Contestants } from "./contestants.ts";
import type { OpenLoopResult } from "./open-loop.ts";
import { medianOf, type Percentiles } from "./percentiles.ts";
import type { Plan } from "./plan.ts";

/** Latencies at a steady rate that both keep up with, in ms; medians over the rounds. */
export interface SteadyResult {
  readonly perSecond: number;
  readonly proxy: Percentiles;
  readonly gateway: Percentiles;
  /** Gateway minus proxy, each percentile with its own, from neighbouring rounds. */
  readonly added: Percentiles;
  /** How late the generator itself was; part of both latencies. */
  readonly late: Percentiles;
}

export async function measureAddedLatency(
  { proxy, gateway }: Contestants,
  { steady: { perSecond, rounds, roundMs } }: Plan,
): Promise<SteadyResult> {
  const bare: OpenLoopResult[] = [];
  const ours: OpenLoopResult[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await proxy.openLoop({ perSecond, ms: roundMs }));
    ours.push(await gateway.openLoop({ perSecond, ms: roundMs }));
  }
  const added = ours.map(({ latencyMs }, round) => minus(latencyMs, bare[round]?.latencyMs ?? latencyMs));
  return {
    perSecond,
    proxy: medians(bare.map((round) => round.latencyMs)),
    gateway: medians(ours.map((round) => round.latencyMs)),
    added: medians(added),
    late: medians([...bare, ...ours].map((round) => round.lateMs)),
  };
}

function minus(left: Percentiles, right: Percentiles): Percentiles {
  return { p50: left.p50 - right.p50, p99: left.p99 - right.p99 };
}

function medians(rounds: readonly Percentiles[]): Percentiles {
  return { p50: medianOf(rounds.map(({ p50 }) => p50)), p99: medianOf(rounds.map(({ p99 }) => p99)) };
}
