import { type Load, startLoad } from "../contestants.ts";
import type { ClosedLoopResult } from "../loops.ts";
import { medianOf } from "../measurements.ts";
import { startChild } from "../processes.ts";
import { type BenchGateway, startGateway } from "../start-gateway.ts";
import {
  type BesideResult,
  createLoads,
  type RoundsResult,
  runBesideIncr,
  runRounds,
} from "./admission-load.ts";
import { type Contestants, startContestants } from "./contestants.ts";
import { measureHeapBytes, measureStoredBytes } from "./memory.ts";
import { GATEWAY_CELLS, type GatewayCell, type LimiterPlan, readLimiterPlan } from "./plan.ts";
import { type LimiterReport, printLimiterReport } from "./report.ts";

/**
 * `bun run bench limiter [--quick] [--json]`: measures the limiter on both stores beside a bare INCR on the
 * same Redis.
 */
export async function benchLimiter(args: readonly string[]): Promise<void> {
  const plan = readLimiterPlan(args);
  const contestants = await startContestants();
  const report = await measure(contestants, plan).finally(contestants.stop);
  console.log(plan.printsJson ? JSON.stringify(report) : printLimiterReport(report));
}

async function measure(contestants: Contestants, plan: LimiterPlan): Promise<LimiterReport> {
  const heapBytes = await measureHeapBytes();
  const storedBytes = await measureStoredBytes(contestants);
  const onRedis: BesideResult[] = [];
  const inProcess: RoundsResult[] = [];
  console.error("measuring, for some minutes unless --quick");
  for (const load of createLoads()) onRedis.push(await runBesideIncr(contestants, load, plan));
  for (const load of createLoads()) inProcess.push(await runRounds(contestants.inProcess, load, plan));
  return { onRedis, inProcess, storedBytes, heapBytes, gateways: await measureGateways(contestants, plan) };
}

/** The rates of a gateway with its limits in Redis, and without. */
export interface GatewayResult extends GatewayCell {
  /** Median of answers per second. */
  readonly alone: number;
  readonly onRedis: number;
  readonly p99Ms: { readonly alone: number; readonly onRedis: number };
  /** Median of consecutive rounds. */
  readonly ratio: number;
}

/** Measures two gateways alternately, with one upstream. */
async function measureGateways(
  { server }: Contestants,
  plan: LimiterPlan,
): Promise<readonly GatewayResult[]> {
  const upstream = await startChild("upstream-process.ts");
  const alone = await startGateway(upstream.url);
  const onRedis = await startGateway(upstream.url, { REDIS_URL: server.url });
  const load = startLoad();
  try {
    const results: GatewayResult[] = [];
    for (const cell of GATEWAY_CELLS) results.push(await measurePair({ load, alone, onRedis, cell }, plan));
    return results;
  } finally {
    await Promise.all([load.stop(), alone.remove(), onRedis.remove()]);
    await upstream.stop();
  }
}

interface Pair {
  readonly load: Load;
  readonly alone: BenchGateway;
  readonly onRedis: BenchGateway;
  readonly cell: GatewayCell;
}

async function measurePair(
  { load, alone, onRedis, cell }: Pair,
  { rounds, roundMs, gatewayWarmUpMs }: LimiterPlan,
): Promise<GatewayResult> {
  const run = async ({ url, secret }: BenchGateway, ms: number): Promise<ClosedLoopResult> => {
    const result = await load.closedLoop({ target: { url, secret }, ...cell, ms });
    if (result.faults.length > 0) throw new Error(`A gateway answered wrongly: ${result.faults.join("; ")}`);
    return result;
  };
  for (const gateway of [alone, onRedis]) await run(gateway, gatewayWarmUpMs);
  const pairs: { readonly alone: ClosedLoopResult; readonly onRedis: ClosedLoopResult }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    pairs.push({ alone: await run(alone, roundMs), onRedis: await run(onRedis, roundMs) });
  }
  const medianBy = (read: (pair: (typeof pairs)[number]) => number) => medianOf(pairs.map(read));
  return {
    ...cell,
    alone: medianBy((pair) => pair.alone.perSecond),
    onRedis: medianBy((pair) => pair.onRedis.perSecond),
    p99Ms: {
      alone: medianBy((pair) => pair.alone.latencyMs.p99),
      onRedis: medianBy((pair) => pair.onRedis.latencyMs.p99),
    },
    ratio: medianBy((pair) => pair.onRedis.perSecond / pair.alone.perSecond),
  };
}
