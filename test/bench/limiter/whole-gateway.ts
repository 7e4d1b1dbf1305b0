import { startChild } from "../child.ts";
import type { ClosedLoopResult } from "../closed-loop.ts";
import { type BenchGateway, startGateway } from "../gateway.ts";
import { type Load, startLoad } from "../load.ts";
import { medianOf } from "../percentiles.ts";
import type { Contestants } from "./contestants.ts";
import { GATEWAY_CELLS, type GatewayCell, type LimiterPlan } from "./plan.ts";

/** What a whole gateway answers with its limits in Redis, and without. */
export interface GatewayResult extends GatewayCell {
  /** Answers a second, medians. */
  readonly alone: number;
  readonly onRedis: number;
  readonly p99Ms: { readonly alone: number; readonly onRedis: number };
  /** Median over neighbouring rounds. */
  readonly ratio: number;
}

/** Two gateways before one upstream are driven in turn. */
export async function measureGateways(
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
