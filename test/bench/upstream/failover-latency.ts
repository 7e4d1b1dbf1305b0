import type { Contestant } from "../contestants.ts";
import type { OpenLoopResult } from "../open-loop.ts";
import { medianOf, type Percentiles } from "../percentiles.ts";
import { FAILOVER_ASKS, HEALTHY_LABEL } from "./failover-offer.ts";
import { FAILOVER_PER_SECOND, type UpstreamPlan } from "./plan.ts";
import type { WireUpstream } from "./wire-upstream.ts";

/** Latencies of whole answers at a low steady rate, in ms; medians over the rounds. */
export interface FailoverLatency {
  /** How the first route failed, or that it answered. */
  readonly label: string;
  readonly latency: Percentiles;
  /** Over a request whose first route answers, in the same round. */
  readonly added: Percentiles;
}

type ByLabel = OpenLoopResult["byLabel"];

/** What each failed first attempt costs where no circuit is open. All kinds are asked in turn, at the same time. */
export async function measureFailoverLatency(
  gateway: Contestant,
  upstream: WireUpstream,
  { rounds, steadyMs: ms }: UpstreamPlan,
): Promise<readonly FailoverLatency[]> {
  const loop = { perSecond: FAILOVER_PER_SECOND, asks: FAILOVER_ASKS, ms };
  const before = await upstream.counts();
  const warmUp = await gateway.openLoop(loop);
  const results: ByLabel[] = [];
  for (let round = 0; round < rounds; round += 1) results.push((await gateway.openLoop(loop)).byLabel);
  const { failures } = await upstream.counts();
  checkFailures(failures - before.failures, [warmUp.byLabel, ...results]);
  return FAILOVER_ASKS.map(({ label }) => latencyOf(label, results));
}

/** Throws when first routes did not fail: then nothing was measured. Refused connections cannot be counted. */
function checkFailures(failures: number, results: readonly ByLabel[]): void {
  const answers = results.map((byLabel) => (byLabel["503"]?.answers ?? 0) + (byLabel.reset?.answers ?? 0));
  const expected = answers.reduce((sum, each) => sum + each, 0);
  if (failures < expected) throw new Error(`Only ${failures} of ${expected} first attempts failed`);
}

function latencyOf(label: string, results: readonly ByLabel[]): FailoverLatency {
  const medianBy = (read: (of: (label: string) => number) => number, at: keyof Percentiles) =>
    medianOf(results.map((byLabel) => read((name) => byLabel[name]?.latencyMs[at] ?? Number.NaN)));
  const medians = (read: (of: (label: string) => number) => number): Percentiles => ({
    p50: medianBy(read, "p50"),
    p99: medianBy(read, "p99"),
  });
  return {
    label,
    latency: medians((of) => of(label)),
    added: medians((of) => of(label) - of(HEALTHY_LABEL)),
  };
}
