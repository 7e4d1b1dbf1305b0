import type { Limiter } from "../../../src/limiter/limiter.ts";
import { medianOf } from "../percentiles.ts";
import type { Contestants } from "./contestants.ts";
import type { AdmissionLoad } from "./loads.ts";
import { type LimiterPlan, WAITING } from "./plan.ts";
import { type LoadResult, runIncr, runLoad } from "./run-load.ts";

/** Medians over the rounds of one load. */
export interface RoundsResult extends LoadResult {
  readonly name: string;
  readonly waiting: number;
}

export interface BesideResult extends RoundsResult {
  readonly incrPerSecond: number;
  /** Operations by INCRs, the median over neighbouring rounds: what else the machine did then hit both. */
  readonly byIncr: number;
}

/** Rounds in turn with bare INCRs, of which always so many wait that there can be no more a second. */
export async function runBesideIncr(
  { bare, onRedis }: Contestants,
  load: AdmissionLoad,
  { rounds, roundMs, warmUpMs }: LimiterPlan,
): Promise<BesideResult> {
  await runIncr(bare, { waiting: WAITING, ms: warmUpMs });
  await runLoad(onRedis, load, warmUpMs);
  const incrs: number[] = [];
  const results: LoadResult[] = [];
  for (let round = 0; round < rounds; round += 1) {
    incrs.push(await runIncr(bare, { waiting: WAITING, ms: roundMs }));
    results.push(await runLoad(onRedis, load, roundMs));
  }
  const ratios = results.map(({ operationsPerSecond }, round) => operationsPerSecond / (incrs[round] ?? 0));
  return { ...mediansOf(load, results), incrPerSecond: medianOf(incrs), byIncr: medianOf(ratios) };
}

export async function runRounds(
  limiter: Limiter,
  load: AdmissionLoad,
  { rounds, roundMs, warmUpMs }: LimiterPlan,
): Promise<RoundsResult> {
  await runLoad(limiter, load, warmUpMs);
  const results: LoadResult[] = [];
  for (let round = 0; round < rounds; round += 1) results.push(await runLoad(limiter, load, roundMs));
  return mediansOf(load, results);
}

function mediansOf({ name, waiting }: AdmissionLoad, results: readonly LoadResult[]): RoundsResult {
  const medianBy = (read: (result: LoadResult) => number) => medianOf(results.map(read));
  return {
    name,
    waiting,
    operationsPerSecond: medianBy(({ operationsPerSecond }) => operationsPerSecond),
    decisionsPerSecond: medianBy(({ decisionsPerSecond }) => decisionsPerSecond),
    latencyMs: {
      p50: medianBy(({ latencyMs }) => latencyMs.p50),
      p99: medianBy(({ latencyMs }) => latencyMs.p99),
    },
  };
}
