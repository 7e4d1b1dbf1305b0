import { expect } from "bun:test";
import type { Route } from "../../src/domain/model.ts";
import type { RouteQueue } from "../../src/gateway/route.ts";
import { createConnectionPools } from "../../src/upstream/bun-fetch.ts";
import { createHealth } from "../../src/upstream/cooldown.ts";
import { createHttpUpstream } from "../../src/upstream/http-upstream.ts";
import type { Upstream, UpstreamConfig } from "../../src/upstream/upstream.ts";
import { createManualClock } from "../limiter/manual-clock.ts";

const UPSTREAM: Omit<UpstreamConfig, "name"> = {
  protocol: "openai",
  baseUrl: "http://127.0.0.1:1",
  apiKey: "none",
  timeouts: { connectMs: 1000, firstOutputMs: 1000, idleMs: 1000, totalMs: 1000 },
  outputLimitField: undefined,
  hasResponses: false,
  circuitFailures: 5,
};

/** A route to the model "m" of an upstream. */
export function route(upstream: string, priority: number, weight = 1): Route {
  const price = { input: 1n, output: 1n, cachedInput: 1n, cacheWrite: 1n, cacheWrite1h: 1n };
  const traits = { reasoning: "none", sampling: true } as const;
  return { upstream, upstreamModel: "m", priority, weight, price, traits };
}

/** The upstreams of some routes, all of them well and nobody called. */
export function upstreamsOf(routes: readonly Route[]) {
  const clock = createManualClock();
  const create = (name: string): Upstream =>
    createHttpUpstream(
      { ...UPSTREAM, name },
      { health: createHealth({ failuresMax: 5, clock: clock.now }), pools: createConnectionPools(() => 0) },
    );
  const upstreams = new Map(routes.map(({ upstream }) => [upstream, create(upstream)]));
  const healthOf = (name: string) => {
    const upstream = upstreams.get(name);
    if (!upstream) throw new Error(`No upstream ${name}`);
    return upstream.health;
  };
  return { upstreams, healthOf, clock };
}

/** Who had the turns that are left. */
export function takeAll(queue: RouteQueue): string[] {
  const names: string[] = [];
  for (let name = take(queue); name !== undefined; name = take(queue)) names.push(name);
  return names;
}

/** Who has the turn; nothing comes of the attempt. */
export function take(queue: RouteQueue): string | undefined {
  const turn = queue.next();
  turn?.trial.abandoned();
  expect(turn?.upstream.name).toBe(turn?.route.upstream);
  return turn?.route.upstream;
}
