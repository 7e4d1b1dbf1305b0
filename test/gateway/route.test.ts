import { describe, expect, test } from "bun:test";
import type { Route } from "../../src/domain/model.ts";
import { orderRoutes } from "../../src/gateway/route.ts";

const price = { input: 1n, output: 1n, cachedInput: 1n, cacheWrite: 1n, cacheWrite1h: 1n };

function route(upstream: string, priority: number, weight = 1): Route {
  return { upstream, upstreamModel: "m", priority, weight, price };
}

function names(routes: readonly Route[]): string[] {
  return routes.map((each) => each.upstream);
}

describe("orderRoutes()", () => {
  test("tries a lower priority number first, whatever the weights", () => {
    const routes = [route("second", 2, 1000), route("first", 1, 1)];
    for (let i = 0; i < 50; i += 1)
      expect(names(orderRoutes(routes, Math.random))).toEqual(["first", "second"]);
  });

  test("draws the first of equal priority in proportion to the weights", () => {
    const routes = [route("heavy", 1, 3), route("light", 1, 1)];
    let heavyFirst = 0;
    for (let i = 0; i < 4000; i += 1)
      heavyFirst += orderRoutes(routes, Math.random)[0]?.upstream === "heavy" ? 1 : 0;
    expect(heavyFirst / 4000).toBeGreaterThan(0.7);
    expect(heavyFirst / 4000).toBeLessThan(0.8);
  });

  test("tries no more than four routes", () => {
    const routes = Array.from({ length: 9 }, (_, i) => route(`u${i}`, i));
    expect(names(orderRoutes(routes, Math.random))).toEqual(["u0", "u1", "u2", "u3"]);
  });
});
