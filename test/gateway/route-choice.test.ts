import { describe, expect, test } from "bun:test";
import type { Route } from "../../src/domain/model.ts";
import type { RouteRequest } from "../../src/gateway/route-order.ts";
import { createHealth } from "../../src/upstream/cooldown.ts";
import { createKeyBounds } from "../../src/upstream/key-bounds.ts";
import { createSoleKey } from "../../src/upstream/key-pool.ts";
import type { UpstreamKey } from "../../src/upstream/upstream.ts";
import { createManualClock } from "../limiter/manual-clock.ts";
import { createDraw } from "../support/seeded-random.ts";
import { createCandidates, queueOf, route } from "./candidates.ts";

const clock = createManualClock();
const send = () => Promise.reject(new Error("Nothing may be sent"));

function poolKey(upstream: string, label: string, more: Partial<UpstreamKey> = {}): UpstreamKey {
  const health = createHealth({ failuresMax: 5, clock: clock.now });
  return { ...createSoleKey(upstream, { label, health, clock: clock.now, send }), ...more };
}

/** One route for each upstream; each has a key for each weight, labelled "k0", "k1" and so on. */
function pools(
  weights: Readonly<Record<string, readonly number[]>>,
  change: (route: Route) => Route = (r) => r,
) {
  const { candidates } = createCandidates(Object.keys(weights).map((name) => change(route(name, 1))));
  return candidates.map((candidate) => {
    const { name } = candidate.upstream;
    const own = weights[name] ?? [];
    const sum = own.reduce((total, weight) => total + weight, 0);
    const keys = own.map((weight, at) => poolKey(name, `k${at}`, { weight, share: weight / sum }));
    const [first = poolKey(name, "k0"), ...others] = keys;
    return { ...candidate, upstream: { ...candidate.upstream, keys: [first, ...others] as const } };
  });
}

type Pools = ReturnType<typeof pools>;

/** Returns the key of the first permit as "upstream/label", and why it was taken. */
function first(candidates: Pools, options: Partial<RouteRequest> & { random?: () => number } = {}) {
  const next = queueOf(candidates, options).next();
  next?.permit.abandoned();
  next?.slot?.end(undefined);
  return next && { name: `${next.candidate.upstream.name}/${next.key.label}`, reason: next.reason };
}

function keyOf(candidates: Pools, upstream: number, at: number): UpstreamKey {
  const key = candidates[upstream]?.upstream.keys[at];
  if (!key) throw new Error("There is no such key");
  return key;
}

function countFirst(candidates: Pools, times: number, of: (index: number) => Partial<RouteRequest>) {
  const random = createDraw("route-choice");
  const counts: Record<string, number> = {};
  for (let index = 0; index < times; index += 1) {
    const name = first(candidates, { random, ...of(index) })?.name ?? "";
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe("the keys of one priority", () => {
  test("share the weight of their route by their own weights", () => {
    const candidates = pools({ a: [1, 3], b: [1] });
    const counts = countFirst(candidates, 8_000, () => ({}));
    expect((counts["a/k0"] ?? 0) / 8_000).toBeCloseTo(1 / 8, 1.4);
    expect((counts["a/k1"] ?? 0) / 8_000).toBeCloseTo(3 / 8, 1.4);
    expect((counts["b/k0"] ?? 0) / 8_000).toBeCloseTo(1 / 2, 1.4);
    expect(first(candidates)?.reason).toBe("weight");
  });

  test("share by their weights also what the beginning of prompts decides", () => {
    const candidates = pools({ a: [1, 3], b: [1] });
    const random = createDraw("beginnings");
    const counts = countFirst(candidates, 8_000, () => ({
      beginning: () => Math.floor(random() * 2 ** 32),
    }));
    expect((counts["a/k0"] ?? 0) / 8_000).toBeCloseTo(1 / 8, 1.4);
    expect((counts["a/k1"] ?? 0) / 8_000).toBeCloseTo(3 / 8, 1.4);
  });
});

describe("prompt affinity", () => {
  const beginnings = Array.from({ length: 500 }, (_, index) => Math.imul(index, 0x9e3779b1) >>> 0);
  const placesIn = (candidates: Pools) =>
    beginnings.map((hash) => first(candidates, { beginning: () => hash })?.name);

  test("gives each beginning one key, equal in every process", () => {
    const one = placesIn(pools({ a: [1, 1, 1], b: [1, 1] }));
    expect(placesIn(pools({ a: [1, 1, 1], b: [1, 1] }))).toEqual(one);
    expect(new Set(one).size).toBe(5);
    expect(first(pools({ a: [1, 1] }), { beginning: () => 7 })?.reason).toBe("affinity");
  });

  test("moves no beginning but those of the key that rests, and moves them back", () => {
    const candidates = pools({ a: [1, 1, 1, 1] });
    const before = placesIn(candidates);
    keyOf(candidates, 0, 2).health.startCooldown("m", 60_000);
    const during = placesIn(candidates);
    expect(during.filter((name) => name === "a/k2")).toEqual([]);
    for (const [index, name] of before.entries()) {
      if (name !== "a/k2") expect(during[index]).toBe(name);
    }
    clock.step(60_001);
    expect(placesIn(candidates)).toEqual(before);
  });

  test("calls a key failover that serves in place of one whose bounds are full", () => {
    const candidates = pools({ a: [1, 1] });
    const preferred = first(candidates, { beginning: () => 7 })?.name;
    const full = createKeyBounds({ requestsPerMinute: 1 }, { replicas: 1, clock: clock.now });
    full.take(1);
    const [one, other] = candidates[0]?.upstream.keys ?? [];
    if (!one || !other || !candidates[0]) throw new Error("There are no keys");
    const isFirst = preferred === "a/k0";
    const keys = [
      { ...one, bounds: isFirst ? full : undefined },
      { ...other, bounds: isFirst ? undefined : full },
    ] as const;
    const changed = [{ ...candidates[0], upstream: { ...candidates[0].upstream, keys } }];
    expect(first(changed, { beginning: () => 7 })).toEqual({
      name: isFirst ? "a/k1" : "a/k0",
      reason: "failover",
    });
  });
});

describe("the choice of a route", () => {
  test("cheapest takes the lowest cost, and the beginning of the prompt decides among equals", () => {
    const candidates = pools({ dear: [1], cheap: [1, 1], same: [1] });
    const expectedCost: RouteRequest["expectedCost"] = ({ upstream }) => (upstream.name === "dear" ? 2 : 1);
    const names = new Set<string | undefined>();
    for (let hash = 1; hash < 200; hash += 1) {
      const beginning = () => Math.imul(hash, 0x9e3779b1) >>> 0;
      const taken = first(candidates, { choice: "cheapest", expectedCost, beginning });
      expect(taken?.reason).toBe("affinity");
      names.add(taken?.name);
    }
    expect(names).toEqual(new Set(["cheap/k0", "cheap/k1", "same/k0"]));
    expect(first(candidates, { choice: "cheapest", expectedCost })?.reason).toBe("cheapest");
  });

  test("least_busy takes the key with the fewest running requests by its weight", () => {
    const candidates = pools({ a: [1, 4] });
    for (let left = 3; left > 0; left -= 1) keyOf(candidates, 0, 1).health.acquire();
    keyOf(candidates, 0, 0).health.acquire();
    expect(first(candidates, { choice: "least_busy" })).toEqual({ name: "a/k1", reason: "least_busy" });
    for (let left = 2; left > 0; left -= 1) keyOf(candidates, 0, 1).health.acquire();
    expect(first(candidates, { choice: "least_busy" })?.name).toBe("a/k0");
  });

  test("fastest takes the shortest time to first output, after every key was measured once", () => {
    const candidates = pools({ a: [1, 1] });
    const tried = new Set<string | undefined>();
    for (const ms of [900, 300]) {
      const taken = first(candidates, { choice: "fastest" });
      const key = keyOf(candidates, 0, Number(taken?.name.at(-1)));
      key.times.tried("m", true);
      key.times.measured("m", true, ms);
      tried.add(taken?.name);
    }
    expect(tried.size).toBe(2);
    const times = [0, 1].map((at) => keyOf(candidates, 0, at).times.expectedMs("m", true));
    const fastest = times.indexOf(300);
    for (let left = 20; left > 0; left -= 1) {
      expect(first(candidates, { choice: "fastest" })).toEqual({ name: `a/k${fastest}`, reason: "fastest" });
    }
  });

  test("is overruled by the priority", () => {
    const { candidates } = createCandidates([route("dear", 1), route("cheap", 2)]);
    const expectedCost: RouteRequest["expectedCost"] = ({ upstream }) => (upstream.name === "dear" ? 2 : 1);
    const next = queueOf(candidates, { choice: "cheapest", expectedCost }).next();
    expect(next).toMatchObject({ reason: "priority", candidate: { upstream: { name: "dear" } } });
  });
});

test("a revoked key is not forced while another key is merely full", () => {
  const candidates = pools({ a: [1, 1] });
  keyOf(candidates, 0, 0).health.acquire()?.rejected();
  const full = createKeyBounds({ concurrentRequests: 1 }, { replicas: 1, clock: clock.now });
  full.take(1);
  const [one, other] = candidates[0]?.upstream.keys ?? [];
  if (!one || !other || !candidates[0]) throw new Error("There are no keys");
  const keys = [one, { ...other, bounds: full }] as const;
  expect(first([{ ...candidates[0], upstream: { ...candidates[0].upstream, keys } }])).toBeUndefined();
});

test("four attempts are the most for a request, keys included, and an unreachable host loses all of its keys", () => {
  const candidates = pools({ a: [1, 1, 1, 1, 1, 1], b: [1] });
  const names: (string | undefined)[] = [];
  const queue = queueOf(candidates);
  for (let next = queue.next(); next; next = queue.next()) {
    next.permit.abandoned();
    names.push(next.candidate.upstream.name);
  }
  expect(names).toHaveLength(4);
  const dropped = queueOf(candidates);
  const one = dropped.next();
  if (one) dropped.drop(one.candidate.upstream);
  const two = dropped.next();
  expect(two?.candidate.upstream.name).not.toBe(one?.candidate.upstream.name);
});
