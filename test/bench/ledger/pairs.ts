import type { HoldRequest, Ledger } from "../../../src/ledger/ledger.ts";
import type { OutcomeFacts } from "../../../src/ledger/records.ts";
import { type Percentiles, percentilesOf } from "../percentiles.ts";

/** Hold+settle pairs, each of which waits for its hold's answer before it settles. */
export interface PairsResult {
  readonly perSecond: number;
  /** Of single commands, a hold or a settlement. */
  readonly latencyMs: Percentiles;
}

export interface PairsLoad {
  readonly walletIds: readonly string[];
  /** Commands that wait at any time. */
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
  usage: {
    inputTokens: 1_200,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: 300,
  },
  firstOutputMs: 300,
  totalMs: 4_000,
  attempts: [{ upstream: "bench", status: 200, ms: 4_000 }],
};
const GRANT = 20_000n;
const COST = 8_100n;
const TTL_MS = 60_000;
const STRIDE = 7_919;

/** Runs a closed loop for a while; what it does is booked for good. */
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
