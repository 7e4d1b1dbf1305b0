import { describe, expect, test } from "bun:test";
import { createRouteQueue } from "../../src/gateway/route.ts";
import type { Health } from "../../src/upstream/cooldown.ts";
import { route, take, takeAll, upstreamsOf } from "./routes.ts";

describe("a route that rests", () => {
  const routes = [route("a", 1), route("b", 2), route("c", 3)];

  test("comes after all that do not, and those that rest keep their order", () => {
    const { upstreams, healthOf } = upstreamsOf(routes);
    healthOf("a").startCooldown("m", 60_000);
    healthOf("b").startCooldown("m", 1000);
    expect(takeAll(createRouteQueue(routes, upstreams))).toEqual(["c", "a", "b"]);
  });

  test("has its turn as before when another model of its upstream rests", () => {
    const { upstreams, healthOf } = upstreamsOf(routes);
    healthOf("a").startCooldown("other", 60_000);
    expect(takeAll(createRouteQueue(routes, upstreams))).toEqual(["a", "b", "c"]);
  });

  test("is asked when the turn comes, whatever was true at the start", () => {
    const { upstreams, healthOf, clock } = upstreamsOf(routes);
    healthOf("a").startCooldown("m", 1000);
    const queue = createRouteQueue(routes, upstreams);
    expect(take(queue)).toBe("b");
    clock.step(1000);
    healthOf("c").startCooldown("m", 60_000);
    expect(takeAll(queue)).toEqual(["a", "c"]);
  });

  test("is tried all the same when it is the only one", () => {
    const sole = [route("a", 1)];
    const { upstreams, healthOf } = upstreamsOf(sole);
    healthOf("a").startCooldown("m", 60_000);
    expect(takeAll(createRouteQueue(sole, upstreams))).toEqual(["a"]);
  });
});

describe("a route whose circuit is open", () => {
  const routes = [route("a", 1), route("b", 2), route("c", 3)];

  test("is passed over, and asked when nothing else is left", () => {
    const { upstreams, healthOf } = upstreamsOf(routes);
    openCircuit(healthOf("a"));
    openCircuit(healthOf("c"));
    expect(takeAll(createRouteQueue(routes, upstreams))).toEqual(["b", "a", "c"]);
  });

  test("takes no turn from others", () => {
    const many = Array.from({ length: 6 }, (_, priority) => route(`u${priority}`, priority));
    const { upstreams, healthOf } = upstreamsOf(many);
    openCircuit(healthOf("u0"));
    openCircuit(healthOf("u2"));
    expect(takeAll(createRouteQueue(many, upstreams))).toEqual(["u1", "u3", "u4", "u5"]);
  });

  test("has its turn when the circuit lets a probe through by then, and once only", () => {
    const { upstreams, healthOf, clock } = upstreamsOf(routes);
    openCircuit(healthOf("a"));
    const queue = createRouteQueue(routes, upstreams);
    expect(take(queue)).toBe("b");
    clock.step(1000);
    expect(takeAll(queue)).toEqual(["a", "c"]);
  });

  test("gives way to one that rests", () => {
    const { upstreams, healthOf } = upstreamsOf(routes);
    openCircuit(healthOf("a"));
    openCircuit(healthOf("b"));
    healthOf("c").startCooldown("m", 60_000);
    expect(takeAll(createRouteQueue(routes, upstreams))).toEqual(["c", "a", "b"]);
  });

  test("is asked by 32 at a time when it is the only one", () => {
    const sole = [route("a", 1)];
    const { upstreams, healthOf } = upstreamsOf(sole);
    openCircuit(healthOf("a"));
    const turns = Array.from({ length: 33 }, () => createRouteQueue(sole, upstreams).next());
    expect(turns.indexOf(undefined)).toBe(32);
    turns[0]?.trial.failed();
    expect(createRouteQueue(sole, upstreams).next()).toBeDefined();
  });
});

test("a route begins a trial only when it has the turn", () => {
  const routes = [route("a", 1), route("b", 2)];
  const { upstreams, healthOf, clock } = upstreamsOf(routes);
  openCircuit(healthOf("b"));
  clock.step(1000);
  expect(take(createRouteQueue(routes, upstreams))).toBe("a");
  expect(healthOf("b").acquire()).toBeDefined();
});

function openCircuit(health: Health): void {
  for (let left = 5; left > 0; left--) health.acquire()?.failed();
  expect(health.acquire()).toBeUndefined();
}
