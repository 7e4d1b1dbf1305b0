import { FAST_MODEL } from "../answers.ts";
import type { Contestant, Contestants } from "../contestants.ts";
import { medianOf, type Percentiles } from "../measurements.ts";
import { startChild } from "../processes.ts";
import { startClient } from "./measure-clients.ts";
import { BEYOND_CAP, CAPACITY_SHARE, CONNECTIONS, LOW_PER_SECOND, type UpstreamPlan } from "./plan.ts";

/** Number of streams that are open at a time, of those requested. */
export interface CapResult {
  readonly asked: number;
  /** With fetch and Bun's default limit. */
  readonly untold: number;
  /** With fetch and the environment variable that raises the limit. */
  readonly told: number;
  /** Through a gateway started without that variable. */
  readonly gateway: number;
}

const WAIT_MS = 20_000;

/** Throws when the gateway has a limit, because its other results would be meaningless. */
export async function measureCap({ gateway }: Contestants): Promise<CapResult> {
  const upstream = await startChild("upstream-process.ts");
  try {
    return {
      asked: BEYOND_CAP,
      untold: await countOpen(upstream.url, { isCapped: true }),
      told: await countOpen(upstream.url, { isCapped: false }),
      gateway: await withinWaitTime(gateway.withOpenStreams(BEYOND_CAP, async () => BEYOND_CAP)),
    };
  } finally {
    await upstream.stop();
  }
}

async function countOpen(url: string, { isCapped }: { isCapped: boolean }): Promise<number> {
  const client = startClient("fetch", { url, isCapped });
  try {
    const begun = await client.hold(BEYOND_CAP);
    await finishAll(url);
    const ended = await client.awaitEnds();
    if (ended !== BEYOND_CAP) throw new Error(`${BEYOND_CAP - ended} of ${BEYOND_CAP} streams broke off`);
    return begun;
  } finally {
    await client.stop();
  }
}

/** Repeats, because waiting streams begin only when the first ones have ended. */
async function finishAll(url: string): Promise<void> {
  const endMs = performance.now() + WAIT_MS;
  for (let finished = 0; finished < BEYOND_CAP; await Bun.sleep(20)) {
    if (performance.now() > endMs) throw new Error(`Only ${finished} of ${BEYOND_CAP} streams began`);
    const answer = await fetch(`${url}/finish`);
    // Safe because the upstream answers with this type.
    finished += ((await answer.json()) as { finished: number }).finished;
  }
}

async function withinWaitTime(opened: Promise<number>): Promise<number> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("The gateway is capped")), WAIT_MS);
  return Promise.race([opened, late.promise]).finally(() => clearTimeout(timer));
}

/** Times to the first event of a stream at one steady rate, in ms; medians over the rounds. */
export interface FirstEventResult {
  readonly name: string;
  readonly perSecond: number;
  readonly proxy: Percentiles;
  readonly gateway: Percentiles;
  /** Gateway minus proxy per percentile, from consecutive rounds. */
  readonly added: Percentiles;
  /** How late the generator sent requests. Part of both times. */
  readonly late: Percentiles;
}

const LABEL = "stream";
const ASKS = [{ label: LABEL, model: FAST_MODEL, stream: true }];

/** Measures the highest rate of streams first, and then the times well below it. */
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
    const { byLabel, lateMs } = await contestant.openLoop({ ...rate, ms: steadyMs, requests: ASKS });
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
