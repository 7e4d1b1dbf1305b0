import type { ClosedLoopResult } from "../closed-loop.ts";
import type { Contestant } from "../contestants.ts";
import { medianOf, type Percentiles } from "../percentiles.ts";
import { downModel, FAILURES, HEALTHY_MODEL, TENTH_MODELS } from "./failover-offer.ts";
import { CONNECTIONS, type UpstreamPlan } from "./plan.ts";
import type { WireUpstream } from "./wire-upstream.ts";

/** A closed loop of whole answers; medians over the rounds. */
export interface FailoverRate {
  readonly name: string;
  readonly perSecond: number;
  readonly latency: Percentiles;
  /** By the rate of requests whose first route answers; median over neighbouring rounds. */
  readonly ratio: number;
  /** Calls that the first route failed, by answers; always 0 where the connection is refused, which nobody counts. */
  readonly failedShare: number;
}

interface Pair {
  readonly healthy: ClosedLoopResult;
  readonly failing: ClosedLoopResult;
  readonly failures: number;
}

/** What is answered while first routes fail now and then, or for good, when their circuits open. */
export async function measureFailoverRates(
  gateway: Contestant,
  upstream: WireUpstream,
  { rounds, roundMs, warmUpMs }: UpstreamPlan,
): Promise<readonly FailoverRate[]> {
  const run = (model: string, ms: number) =>
    gateway.closedLoop({ kind: "whole", model, connections: CONNECTIONS, ms });
  const runPair = async (model: string): Promise<Pair> => {
    const healthy = await run(HEALTHY_MODEL, roundMs);
    const before = await upstream.counts();
    const failing = await run(model, roundMs);
    const { failures } = await upstream.counts();
    return { healthy, failing, failures: failures - before.failures };
  };
  const results: FailoverRate[] = [];
  for (const { name, model, isDown } of casesOf()) {
    for (const each of [HEALTHY_MODEL, model]) await run(each, warmUpMs);
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round += 1) pairs.push(await runPair(model));
    const rate = rateOf(name, pairs);
    if (!isDown && !(rate.failedShare > 0)) throw new Error(`No first attempt failed: ${name}`);
    results.push(rate);
  }
  return results;
}

function casesOf() {
  return [
    ...Object.entries(TENTH_MODELS).map(([how, model]) => ({
      name: `1 in 10: ${how}`,
      model,
      isDown: false,
    })),
    ...FAILURES.map((how) => ({ name: `for good: ${how}`, model: downModel(how), isDown: true })),
  ];
}

function rateOf(name: string, pairs: readonly Pair[]): FailoverRate {
  const medianBy = (read: (pair: Pair) => number) => medianOf(pairs.map(read));
  return {
    name,
    perSecond: medianBy(({ failing }) => failing.perSecond),
    latency: {
      p50: medianBy(({ failing }) => failing.latencyMs.p50),
      p99: medianBy(({ failing }) => failing.latencyMs.p99),
    },
    ratio: medianBy(({ healthy, failing }) => failing.perSecond / healthy.perSecond),
    failedShare: medianBy(({ failing, failures }) => failures / failing.answers),
  };
}
