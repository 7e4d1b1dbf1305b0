import { call, type Seen } from "./call.ts";
import type { FlakyUpstreams } from "./flaky-upstreams.ts";
import { type Outage, outagesOf, planOf, type Weather } from "./plan.ts";
import type { StormGateway } from "./storm-gateway.ts";

export interface Storm {
  readonly weather: Weather;
  /** The numbers of its requests: so many from the first on. */
  readonly first: number;
  readonly count: number;
  /** Requests at a time. */
  readonly callers: number;
}

/** Makes every request of a storm, each caller one after another, with the outages in between. */
export async function runStorm(
  { gateway, upstreams }: { gateway: StormGateway; upstreams: FlakyUpstreams },
  { weather, first, count, callers }: Storm,
): Promise<readonly Seen[]> {
  const outages = outagesOf(weather, first, count);
  const seen: Seen[] = [];
  let next = first;
  const work = async () => {
    while (next < first + count) {
      const number = next++;
      applyOutages(outages, number, upstreams);
      const plan = planOf(weather, number);
      seen.push(await call(gateway.payer(plan.key), plan));
    }
  };
  await Promise.all(Array.from({ length: callers }, work));
  // One that was to end behind the last request.
  for (const { upstream, to } of outages) if (to >= first + count) upstreams.comeUp(upstream);
  return seen;
}

function applyOutages(outages: readonly Outage[], number: number, upstreams: FlakyUpstreams): void {
  for (const { upstream, from, to } of outages) {
    if (number === from) upstreams.goDown(upstream);
    if (number === to) upstreams.comeUp(upstream);
  }
}
