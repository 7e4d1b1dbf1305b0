import { expect } from "bun:test";
import type { Route } from "../../src/domain/model.ts";
import type { Candidate } from "../../src/gateway/request.ts";
import type { RouteQueue } from "../../src/gateway/route-queue.ts";
import { createHealth, type Health } from "../../src/upstream/cooldown.ts";
import type { Upstream } from "../../src/upstream/upstream.ts";
import type { RequestFacts } from "../../src/wire/model-request.ts";
import { findProtocolPair, passthroughContext } from "../../src/wire/protocol-pair.ts";
import { WIRES } from "../../src/wire/registry.ts";
import { createManualClock } from "../limiter/manual-clock.ts";
import { TEST_PRICE } from "../support/test-catalog.ts";

const TIMEOUTS = { connectMs: 1000, firstOutputMs: 1000, idleMs: 1000, totalMs: 1000 };

const FACTS: RequestFacts = {
  model: "m",
  stream: false,
  outputTokensMax: 100,
  outputLimitField: undefined,
  thinkingTokens: 0,
  choices: 1,
  wantsUsage: false,
  input: { textBytes: 100, mediaBytes: 0, images: 0, unbounded: false, serverTools: false },
};

/** A route to the model "m" of an upstream. */
export function route(upstream: string, priority: number, weight = 1): Route {
  const traits = { reasoning: "none", sampling: true } as const;
  return { upstream, upstreamModel: "m", priority, weight, price: TEST_PRICE, traits };
}

/** A healthy upstream in this process; its circuit opens after five failures. Nothing may be sent unless overridden. */
export function createUpstream(
  name: string,
  { clock = () => performance.now(), ...more }: Partial<Upstream> & { readonly clock?: () => number } = {},
): Upstream {
  return {
    name,
    surfacesOf: () => ["chat"],
    timeouts: TIMEOUTS,
    outputLimitField: undefined,
    health: createHealth({ failuresMax: 5, clock }),
    send: () => Promise.reject(new Error(`Nothing may be sent to ${name}`)),
    ...more,
  };
}

/** A candidate that passes chat completions through. */
function passthroughCandidate(of: Route, upstream: Upstream, facts: Partial<RequestFacts> = {}): Candidate {
  const codec = findProtocolPair(WIRES.chat, ["chat"])?.answers(passthroughContext({ ...FACTS, ...facts }));
  if (!codec) throw new Error("Chat completions do not pass through");
  const { upstreamModel: model, traits } = of;
  const printOptions = { model, outputTokensMax: 100, outputLimitField: undefined, stream: false, traits };
  return { route: of, upstream, codec, printOptions };
}

/** A candidate for each route, all of them healthy, and the clock that their cooldowns and circuits run by. */
export function createCandidates(routes: readonly Route[]) {
  const clock = createManualClock();
  const candidates = routes.map((each) =>
    passthroughCandidate(each, createUpstream(each.upstream, { clock: clock.now })),
  );
  const healthOf = (name: string): Health => {
    const found = candidates.find(({ upstream }) => upstream.name === name);
    if (!found) throw new Error(`No upstream ${name}`);
    return found.upstream.health;
  };
  return { candidates, healthOf, clock };
}

/** Returns the upstreams of all permits that are left. */
export function takeAll(queue: RouteQueue): string[] {
  const names: string[] = [];
  for (let name = take(queue); name !== undefined; name = take(queue)) names.push(name);
  return names;
}

/** Returns the upstream of the next permit, and ends the permit without a verdict. */
export function take(queue: RouteQueue): string | undefined {
  const next = queue.next();
  next?.permit.abandoned();
  expect(next?.candidate.upstream.name).toBe(next?.candidate.route.upstream);
  return next?.candidate.route.upstream;
}

/** Fails five times in a row. */
export function openCircuit(health: Health): void {
  for (let left = 5; left > 0; left--) health.acquire()?.failed();
  expect(health.acquire()).toBeUndefined();
}
