import { FAST_MODEL } from "../answers.ts";
import type { Contestant, Contestants } from "../contestants.ts";
import { medianOf, type Percentiles } from "../percentiles.ts";
import { CAPACITY_SHARE, CONNECTIONS, LOW_PER_SECOND, type UpstreamPlan } from "./plan.ts";

/** Times to the first event of a stream at one steady rate, in ms; medians over the rounds. */
export interface FirstEventResult {
  readonly name: string;
  readonly perSecond: number;
  readonly proxy: Percentiles;
  readonly gateway: Percentiles;
  /** Gateway minus proxy, each percentile with its own, from neighbouring rounds. */
  readonly added: Percentiles;
  /** How late the generator itself was; part of both times. */
  readonly late: Percentiles;
}

const LABEL = "stream";
const ASKS = [{ label: LABEL, model: FAST_MODEL, stream: true }];

/** Finds out how many streams a second the gateway answers at most, then measures well below that. */
export async function measureFirstEvent(
  all: Contestants,
  plan: UpstreamPlan,
): Promise<readonly FirstEventResult[]> {
  const { proxy, gateway } = all;
  const loop = { kind: "stream", connections: CONNECTIONS } as const;
  for (const contestant of [proxy, gateway]) await contestant.closedLoop({ ...loop, ms: plan.warmUpMs });
  const capacity = await gateway.closedLoop({ ...loop, ms: plan.roundMs });
  const half = Math.max(LOW_PER_SECOND, Math.round(capacity.perSecond * CAPACITY_SHARE));
  return [
    await measureAt(all, { name: "low rate", perSecond: LOW_PER_SECOND }, plan),
    await measureAt(all, { name: "half capacity", perSecond: half }, plan),
  ];
}

interface Rate {
  readonly name: string;
  readonly perSecond: number;
}

interface Run {
  readonly firstMs: Percentiles;
  readonly lateMs: Percentiles;
}

async function measureAt(
  { proxy, gateway }: Contestants,
  rate: Rate,
  { rounds, steadyMs }: UpstreamPlan,
): Promise<FirstEventResult> {
  const run = async (contestant: Contestant): Promise<Run> => {
    const { byLabel, lateMs } = await contestant.openLoop({ ...rate, ms: steadyMs, asks: ASKS });
    const timings = byLabel[LABEL];
    if (!timings) throw new Error("The generator measured no stream");
    return { firstMs: timings.firstByteMs, lateMs };
  };
  const pairs: { readonly bare: Run; readonly ours: Run }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    pairs.push({ bare: await run(proxy), ours: await run(gateway) });
  }
  const medians = (read: (pair: (typeof pairs)[number], at: keyof Percentiles) => number): Percentiles => ({
    p50: medianOf(pairs.map((pair) => read(pair, "p50"))),
    p99: medianOf(pairs.map((pair) => read(pair, "p99"))),
  });
  return {
    ...rate,
    proxy: medians(({ bare }, at) => bare.firstMs[at]),
    gateway: medians(({ ours }, at) => ours.firstMs[at]),
    added: medians(({ bare, ours }, at) => ours.firstMs[at] - bare.firstMs[at]),
    late: medians(({ bare, ours }, at) => Math.max(bare.lateMs[at], ours.lateMs[at])),
  };
}
