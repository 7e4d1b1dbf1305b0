import { expect } from "bun:test";
import type { Route } from "../../src/domain/model.ts";
import type { Candidate } from "../../src/gateway/request.ts";
import type { RouteRequest } from "../../src/gateway/route-order.ts";
import { createRouteQueue, type RouteQueue } from "../../src/gateway/route-queue.ts";
import { createHealth, type Health } from "../../src/upstream/cooldown.ts";
import { createSoleKey } from "../../src/upstream/key-pool.ts";
import type { Upstream, UpstreamKey } from "../../src/upstream/upstream.ts";
import { findFormatPair, passthroughContext } from "../../src/wire/format-pair.ts";
import type { RequestHead } from "../../src/wire/model-request.ts";
import { WIRES } from "../../src/wire/registry.ts";
import { createManualClock } from "../limiter/manual-clock.ts";
import { TEST_PRICE } from "../support/test-catalog.ts";

const TIMEOUTS = { connectMs: 1000, firstOutputMs: 1000, idleMs: 1000, totalMs: 1000 };

const FACTS: RequestHead = {
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

interface CreatedUpstream extends Partial<Upstream> {
  readonly clock?: () => number;
  readonly send?: UpstreamKey["send"];
}

/** A healthy upstream in this process; its circuit opens after five failures. Nothing may be sent unless overridden. */
export function createUpstream(
  name: string,
  { clock = () => performance.now(), send, ...more }: CreatedUpstream = {},
): Upstream {
  const health = createHealth({ failuresMax: 5, clock });
  const refuse = () => Promise.reject(new Error(`Nothing may be sent to ${name}`));
  return {
    name,
    provider: "openai",
    surfacesOf: () => ["chat"],
    timeouts: TIMEOUTS,
    outputLimitField: undefined,
    keys: [createSoleKey(name, { health, clock, send: send ?? refuse })],
    ...more,
  };
}

/** A candidate that passes chat completions through. */
function passthroughCandidate(of: Route, upstream: Upstream, facts: Partial<RequestHead> = {}): Candidate {
  const codec = findFormatPair(WIRES.chat, ["chat"])?.answers(passthroughContext({ ...FACTS, ...facts }));
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
    return found.upstream.keys[0].health;
  };
  return { candidates, healthOf, clock };
}

interface QueuedRequest extends Partial<RouteRequest> {
  readonly random?: () => number;
}

/** The queue of a request of 100 tokens for candidates, by weights. */
export function queueOf(
  candidates: readonly Candidate[],
  { random, ...request }: QueuedRequest = {},
): RouteQueue {
  const { choice = "priority", stream = true, tokens = 100 } = request;
  const { expectedCost = () => 0, beginning = () => undefined } = request;
  return createRouteQueue({ candidates, choice, stream, tokens, expectedCost, beginning }, random);
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
