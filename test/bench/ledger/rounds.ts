import type { Ledger } from "../../../src/ledger/ledger.ts";
import { medianOf } from "../percentiles.ts";
import { type PairsLoad, type PairsResult, runPairs } from "./pairs.ts";
import type { Pgbench } from "./pgbench.ts";
import type { LedgerPlan } from "./plan.ts";

type Load = Omit<PairsLoad, "ms">;

/** The medians of several rounds, after one to warm up. */
export async function runRounds(ledger: Ledger, load: Load, plan: LedgerPlan): Promise<PairsResult> {
  await runPairs(ledger, { ...load, ms: plan.warmUpMs });
  const results: PairsResult[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    results.push(await runPairs(ledger, { ...load, ms: plan.roundMs }));
  }
  return mediansOf(results);
}

export interface BesideResult {
  readonly hot: PairsResult;
  /** Transactions a second. */
  readonly pgbench: number;
  /** Median of the ratios of neighbouring rounds: what else the machine did then hit both. */
  readonly hotByPgbench: number;
}

/** Rounds in turn with pgbench. */
export async function runBeside(
  ledger: Ledger,
  load: Load,
  { pgbench, plan }: { readonly pgbench: Pgbench; readonly plan: LedgerPlan },
): Promise<BesideResult> {
  await runPairs(ledger, { ...load, ms: plan.warmUpMs });
  await pgbench.run(plan.warmUpMs);
  const results: PairsResult[] = [];
  const rates: number[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    rates.push(await pgbench.run(plan.roundMs));
    results.push(await runPairs(ledger, { ...load, ms: plan.roundMs }));
  }
  const ratios = results.map(({ perSecond }, round) => perSecond / (rates[round] ?? Number.NaN));
  return { hot: mediansOf(results), pgbench: medianOf(rates), hotByPgbench: medianOf(ratios) };
}

/** Puts holds into the books until so many more are there. */
export async function fill(ledger: Ledger, walletIds: readonly string[], holds: number): Promise<void> {
  let left = holds;
  while (left > 0) {
    const { perSecond } = await runPairs(ledger, { walletIds, waiting: 1_024, ms: FILL_MS });
    left -= perSecond * (FILL_MS / 1_000);
  }
}

const FILL_MS = 2_000;

function mediansOf(results: readonly PairsResult[]): PairsResult {
  return {
    perSecond: medianOf(results.map(({ perSecond }) => perSecond)),
    latencyMs: {
      p50: medianOf(results.map(({ latencyMs }) => latencyMs.p50)),
      p99: medianOf(results.map(({ latencyMs }) => latencyMs.p99)),
    },
  };
}
