import { describe, expect, test } from "bun:test";
import { createCandidates, openCircuit, queueOf, route, take, takeAll } from "./candidates.ts";

describe("the order of candidates", () => {
  test("follows the priority, lower numbers first, whatever the weights", () => {
    const routes = [route("third", 9, 1000), route("first", 1, 1), route("second", 2, 1_000_000)];
    const { candidates } = createCandidates(routes);
    for (let left = 50; left > 0; left--) {
      expect(takeAll(queueOf(candidates))).toEqual(["first", "second", "third"]);
    }
  });

  test("is drawn by weight within a priority, and again by weight among those that are left", () => {
    const routes = [route("one", 1, 1), route("six", 1, 6), route("three", 1, 3), route("last", 2, 90)];
    const { candidates } = createCandidates(routes);
    const random = seededRandom(20_261_121);
    const counts = new Map<string, number>();
    for (let left = 20_000; left > 0; left--) {
      const order = takeAll(queueOf(candidates, { random })).join(" ");
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

  test("is drawn once for each request", () => {
    const routes = [route("a", 1), route("b", 1)];
    const { candidates } = createCandidates(routes);
    let drawn = 0;
    const random = () => {
      drawn += 1;
      return drawn === 1 || drawn === 4 ? 0.9 : 0.1;
    };
    expect(takeAll(queueOf(candidates, { random }))).toEqual(["a", "b"]);
    expect(takeAll(queueOf(candidates, { random }))).toEqual(["b", "a"]);
    expect(drawn).toBe(4);
  });

  test("ends after four permits", () => {
    const routes = Array.from({ length: 9 }, (_, priority) => route(`u${priority}`, priority));
    expect(takeAll(queueOf(createCandidates(routes).candidates))).toEqual(["u0", "u1", "u2", "u3"]);
  });

  test("leaves the given list unchanged", () => {
    const routes = [route("b", 2), route("a", 1)];
    const { candidates } = createCandidates(routes);
    takeAll(queueOf(candidates));
    expect(candidates.map(({ route: each }) => each.upstream)).toEqual(["b", "a"]);
  });
});

describe("a candidate that cools down", () => {
  const routes = [route("a", 1), route("b", 2), route("c", 3)];

  test("comes after all others, in the order of those that cool down", () => {
    const { candidates, healthOf } = createCandidates(routes);
    healthOf("a").startCooldown("m", 60_000);
    healthOf("b").startCooldown("m", 1000);
    expect(takeAll(queueOf(candidates))).toEqual(["c", "a", "b"]);
  });

  test("keeps its place when only another model of its upstream cools down", () => {
    const { candidates, healthOf } = createCandidates(routes);
    healthOf("a").startCooldown("other", 60_000);
    expect(takeAll(queueOf(candidates))).toEqual(["a", "b", "c"]);
  });

  test("is judged by its cooldown at each permit, not at the start", () => {
    const { candidates, healthOf, clock } = createCandidates(routes);
    healthOf("a").startCooldown("m", 1000);
    const queue = queueOf(candidates);
    expect(take(queue)).toBe("b");
    clock.step(1000);
    healthOf("c").startCooldown("m", 60_000);
    expect(takeAll(queue)).toEqual(["a", "c"]);
  });

  test("is tried when it is the only one", () => {
    const sole = [route("a", 1)];
    const { candidates, healthOf } = createCandidates(sole);
    healthOf("a").startCooldown("m", 60_000);
    expect(takeAll(queueOf(candidates))).toEqual(["a"]);
  });
});

describe("a candidate whose circuit is open", () => {
  const routes = [route("a", 1), route("b", 2), route("c", 3)];

  test("is skipped, and asked when no other is left", () => {
    const { candidates, healthOf } = createCandidates(routes);
    openCircuit(healthOf("a"));
    openCircuit(healthOf("c"));
    expect(takeAll(queueOf(candidates))).toEqual(["b", "a", "c"]);
  });

  test("does not count as one of the four permits", () => {
    const many = Array.from({ length: 6 }, (_, priority) => route(`u${priority}`, priority));
    const { candidates, healthOf } = createCandidates(many);
    openCircuit(healthOf("u0"));
    openCircuit(healthOf("u2"));
    expect(takeAll(queueOf(candidates))).toEqual(["u1", "u3", "u4", "u5"]);
  });

  test("is asked once when its circuit admits a probe by then", () => {
    const { candidates, healthOf, clock } = createCandidates(routes);
    openCircuit(healthOf("a"));
    const queue = queueOf(candidates);
    expect(take(queue)).toBe("b");
    clock.step(1000);
    expect(takeAll(queue)).toEqual(["a", "c"]);
  });

  test("comes after one that cools down", () => {
    const { candidates, healthOf } = createCandidates(routes);
    openCircuit(healthOf("a"));
    openCircuit(healthOf("b"));
    healthOf("c").startCooldown("m", 60_000);
    expect(takeAll(queueOf(candidates))).toEqual(["c", "a", "b"]);
  });

  test("is asked by 32 requests at a time when it is the only one", () => {
    const sole = [route("a", 1)];
    const { candidates, healthOf } = createCandidates(sole);
    openCircuit(healthOf("a"));
    const permits = Array.from({ length: 33 }, () => queueOf(candidates).next());
    expect(permits.indexOf(undefined)).toBe(32);
    permits[0]?.permit.failed();
    expect(queueOf(candidates).next()).toBeDefined();
  });
});

test("a candidate takes a permit only when it is next", () => {
  const routes = [route("a", 1), route("b", 2)];
  const { candidates, healthOf, clock } = createCandidates(routes);
  openCircuit(healthOf("b"));
  clock.step(1000);
  expect(take(queueOf(candidates))).toBe("a");
  expect(healthOf("b").acquire()).toBeDefined();
});

/** Numbers from 0 up to 1, the same ones every time. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
