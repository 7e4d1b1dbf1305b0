import { describe, expect, test } from "bun:test";
import { createRouteQueue } from "../../src/gateway/route-queue.ts";
import { route, takeAll, upstreamsOf } from "./routes.ts";

describe("the order of routes", () => {
  test("follows the priority, lower numbers first, whatever the weights", () => {
    const routes = [route("third", 9, 1000), route("first", 1, 1), route("second", 2, 1_000_000)];
    const { upstreams } = upstreamsOf(routes);
    for (let left = 50; left > 0; left--) {
      expect(takeAll(createRouteQueue(routes, upstreams))).toEqual(["first", "second", "third"]);
    }
  });

  test("is drawn by weight among equals, then by weight among those that are left", () => {
    const routes = [route("one", 1, 1), route("six", 1, 6), route("three", 1, 3), route("last", 2, 90)];
    const { upstreams } = upstreamsOf(routes);
    const random = seededRandom(20_261_121);
    const counts = new Map<string, number>();
    for (let left = 20_000; left > 0; left--) {
      const order = takeAll(createRouteQueue(routes, upstreams, random)).join(" ");
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    const shares = [...counts].map(([order, count]) => [order, count / 20_000] as const);
    expect(Object.fromEntries(shares)).toEqual({
      "six three one last": expect.closeTo((6 / 10) * (3 / 4), 1.8),
      "six one three last": expect.closeTo((6 / 10) * (1 / 4), 1.8),
      "three six one last": expect.closeTo((3 / 10) * (6 / 7), 1.8),
      "three one six last": expect.closeTo((3 / 10) * (1 / 7), 1.8),
      "one six three last": expect.closeTo((1 / 10) * (6 / 9), 1.8),
      "one three six last": expect.closeTo((1 / 10) * (3 / 9), 1.8),
    });
  });

  test("is drawn anew for each request, and only once for each", () => {
    const routes = [route("a", 1), route("b", 1)];
    const { upstreams } = upstreamsOf(routes);
    let drawn = 0;
    const random = () => {
      drawn += 1;
      return drawn === 1 || drawn === 4 ? 0.9 : 0.1;
    };
    expect(takeAll(createRouteQueue(routes, upstreams, random))).toEqual(["a", "b"]);
    expect(takeAll(createRouteQueue(routes, upstreams, random))).toEqual(["b", "a"]);
    expect(drawn).toBe(4);
  });

  test("ends after four turns", () => {
    const routes = Array.from({ length: 9 }, (_, priority) => route(`u${priority}`, priority));
    expect(takeAll(createRouteQueue(routes, upstreamsOf(routes).upstreams))).toEqual([
      "u0",
      "u1",
      "u2",
      "u3",
    ]);
  });

  test("leaves the catalog's own list as it is", () => {
    const routes = [route("b", 2), route("a", 1)];
    takeAll(createRouteQueue(routes, upstreamsOf(routes).upstreams));
    expect(routes.map(({ upstream }) => upstream)).toEqual(["b", "a"]);
  });
});

test("a route without its upstream is passed over", () => {
  const { upstreams } = upstreamsOf([route("a", 1)]);
  expect(takeAll(createRouteQueue([route("gone", 0), route("a", 1)], upstreams))).toEqual(["a"]);
  expect(takeAll(createRouteQueue([route("gone", 0)], upstreams))).toEqual([]);
});

/** Numbers from 0 up to 1, the same ones every time. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
