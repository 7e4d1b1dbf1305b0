import { extraConfigOf, postBody } from "../bodies/bench-bodies.ts";
import { type CostlyBody, costlyBodies, MODELS } from "../bodies/costly-bodies.ts";
import type { ProbeJob, Stretch } from "../bodies/probe-process.ts";
import type { Contestants } from "../contestants.ts";
import { startChild, startJobProcess } from "../processes.ts";
import { type BenchGateway, startGateway } from "../start-gateway.ts";
import type { Durations } from "./plan.ts";

/**
 * The longest stalls of a gateway's event loop, in ms: how long `GET /healthz` of a second client waited,
 * without the time that either process waited for a processor.
 */
export interface StallResult {
  /** At the steady rate. */
  readonly steadyMs: number;
  /** While the costliest bodies arrive, one after the other, at a gateway of its own. */
  readonly bodiesMs: number;
}

const REST_MS = 200;
/** The bodies that `bun run bench bodies` found the costliest for the event loop. */
const COSTLIEST = /distinct keys|plain text/;
const isCostliest = ({ name, surface, model }: CostlyBody) =>
  surface === "chat" && model === MODELS.openai && COSTLIEST.test(name);

export async function measureStall(
  { gateway, gatewayProcess }: Contestants,
  { steady: { perSecond, roundMs } }: Pick<Durations, "steady">,
): Promise<StallResult> {
  const steadyMs = await longestMsDuring(gatewayProcess, () => gateway.openLoop({ perSecond, ms: roundMs }));
  return { steadyMs, bodiesMs: await longestMsOfOther(sendCostlyBodies) };
}

/** The admitted bodies that stall a gateway for the longest when fifty of them arrive at once. */
const WORST_TOGETHER = /^(127 KB (distinct keys|an object)|1020 KB)/;

/** Measures a gateway that gets each of the worst admitted bodies fifty times at once, in ms. */
export function measureStallTogether(): Promise<number> {
  const bodies = costlyBodies().filter(
    ({ name, model }) => model === MODELS.openai && WORST_TOGETHER.test(name),
  );
  return longestMsOfOther(async (gateway) => {
    for (const { surface, text, together } of bodies) {
      const bytes = Buffer.from(text());
      await Promise.all(Array.from({ length: together }, () => postBody(gateway, surface, bytes)));
    }
  });
}

/** The longest stall of a gateway of its own while `act` sends it costly bodies. */
async function longestMsOfOther(act: (gateway: BenchGateway) => Promise<unknown>): Promise<number> {
  const upstream = await startChild("bodies/upstream-process.ts");
  const gateway = await startGateway(upstream.url, {}, extraConfigOf(upstream.url));
  try {
    return await longestMsDuring(gateway, () => act(gateway));
  } finally {
    await gateway.remove();
    await upstream.stop();
  }
}

async function longestMsDuring(gateway: BenchGateway, act: () => Promise<unknown>): Promise<number> {
  const probe = startJobProcess<ProbeJob>("bodies/probe-process.ts");
  const nextStretch = async () => (await probe.perform({ url: gateway.url, pid: gateway.pid })) as Stretch;
  try {
    // The first stretch warms the probe up.
    await nextStretch();
    await Bun.sleep(REST_MS);
    await nextStretch();
    await act();
    await Bun.sleep(REST_MS);
    return (await nextStretch()).longestMs;
  } finally {
    await probe.stop();
  }
}

/** Sends bodies twice: the first time, much of the code is new. */
async function sendCostlyBodies(gateway: BenchGateway): Promise<void> {
  const bodies = costlyBodies().filter(isCostliest);
  for (const { name, surface, text } of [...bodies, ...bodies]) {
    const status = await postBody(gateway, surface, Buffer.from(text()));
    // A body that is rejected after it was parsed has cost as much.
    if (status === 0 || status >= 500)
      throw new Error(`The gateway answered ${status} to the body "${name}"`);
    await Bun.sleep(REST_MS);
  }
}
