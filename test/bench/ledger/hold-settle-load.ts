import { NO_USAGE } from "../../../src/domain/usage.ts";
import type { HoldRequest, Ledger } from "../../../src/ledger/ledger.ts";
import type { OutcomeFacts } from "../../../src/ledger/records.ts";
import { medianOf, type Percentiles, percentilesOf } from "../measurements.ts";
import type { Pgbench } from "./contestants.ts";
import type { LedgerPlan } from "./plan.ts";

type Load = Omit<PairsLoad, "ms">;

/** Returns the medians of several rounds, after one to warm up. */
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
  /** Transactions per second. */
  readonly pgbench: number;
  /** Median of the ratios of consecutive rounds, so that other load of the machine affects both. */
  readonly hotByPgbench: number;
}

/** Runs rounds alternately with pgbench. */
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

/** Adds at least this many holds to the ledger. */
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

/** Pairs of hold and settle. Each settle waits for the result of its hold. */
export interface PairsResult {
  readonly perSecond: number;
  /** Latency of single commands, a hold or a settle. */
  readonly latencyMs: Percentiles;
}

export interface PairsLoad {
  readonly walletIds: readonly string[];
  /** Number of concurrent commands. */
  readonly waiting: number;
  readonly ms: number;
}

export const BENCH_KEY = "bench";
const FACTS: OutcomeFacts = {
  outcome: "ok",
  source: "reported",
  upstream: "bench",
  upstreamModel: "bench",
  price: { input: 3_000n, output: 15_000n, cachedInput: 300n, cacheWrite: 3_750n, cacheWrite1h: 6_000n },
  usage: { ...NO_USAGE, inputTokens: 1_200, outputTokens: 300 },
  firstOutputMs: 300,
  totalMs: 4_000,
  attempts: [{ upstream: "bench", status: 200, ms: 4_000 }],
};
const GRANT = 20_000n;
const COST = 8_100n;
const TTL_MS = 60_000;
const STRIDE = 7_919;

/** Runs a closed loop for `load.ms`. Its entries stay in the ledger. */
export async function runPairs(ledger: Ledger, load: PairsLoad): Promise<PairsResult> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  let turn = 0;

  const timed = async (command: () => Promise<unknown>) => {
    const from = performance.now();
    await command();
    latencies.push(performance.now() - from);
  };
  const work = async () => {
    while (performance.now() - startedAt < load.ms) {
      // A prime stride visits all wallets in a scattered order.
      turn += STRIDE;
      const walletId = load.walletIds[turn % load.walletIds.length] ?? "";
      const holdId = Bun.randomUUIDv7();
      await timed(() => ledger.hold(holdOf(walletId, holdId)));
      await timed(() => ledger.settle({ walletId, holdId, amount: COST, facts: FACTS }));
    }
  };

  await Promise.all(Array.from({ length: load.waiting }, work));
  const seconds = (performance.now() - startedAt) / 1_000;
  return { perSecond: latencies.length / 2 / seconds, latencyMs: percentilesOf(latencies) };
}

function holdOf(walletId: string, holdId: string): HoldRequest {
  return {
    walletId,
    holdId,
    keyId: BENCH_KEY,
    amount: GRANT,
    minimum: GRANT,
    ttlMs: TTL_MS,
    facts: { surface: "bench", model: "bench" },
  };
}

/** Balance of every wallet in nano-USD. */
export const BENCH_FUNDS = 10n ** 15n;

/** Creates wallets with enough money for every round. */
export async function createWallets(ledger: Ledger, count: number): Promise<readonly string[]> {
  const walletIds = Array.from({ length: count }, () => Bun.randomUUIDv7());
  await Promise.all(
    walletIds.map(async (walletId) => {
      await ledger.createWallet(walletId);
      await ledger.topUp({ walletId, topUpId: "bench", amount: BENCH_FUNDS });
    }),
  );
  return walletIds;
}
