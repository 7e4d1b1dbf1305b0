import { describe, expect, test } from "bun:test";
import type { Scope, ScopeKind } from "../../src/domain/scope.ts";
import { charge, create, deleteLimit, fund, hold, lastDecision, limit, settle } from "./given.ts";
import { decideBatch, emptyWallet, type MemoryWallet } from "./memory-wallet.ts";
import { holdIdOf, NOON_MS } from "./samples.ts";

const HOUR_MS = 3_600_000;
const P1 = scope("project", "p1");
const tag = (id: string) => scope("tag", id);

function scope(kind: ScopeKind, id: string): Scope {
  return { kind, id };
}

const funded = [create, fund(100n)];
const bound = (amount: bigint, changes: object) =>
  limit(amount, { keyId: undefined, period: "total", ...changes });
const held = (name: string, amount: bigint, changes: object = {}) =>
  hold(amount, { holdId: holdIdOf(name), ...changes });
const countersOf = ({ counters }: MemoryWallet) =>
  Object.fromEntries([...counters.values()].map((each) => [each.counterId, [each.used, each.held]]));

/** The limit that declines the last of several commands. */
function declining(given: Parameters<typeof lastDecision>[0]): unknown {
  const stored = emptyWallet();
  const last = given.at(-1);
  if (typeof last !== "object") throw new Error("the last is a command");
  lastDecision([...given.slice(0, -1)], stored);
  const [decision] = decideBatch(stored, [last], NOON_MS);
  return decision && "limit" in decision ? decision.limit : decision;
}

describe("the scopes of a hold", () => {
  test.each<[string, readonly Scope[]]>([
    ["17 scopes", Array.from({ length: 17 }, (_, i) => tag(`n=${i}`))],
    ["a scope twice", [P1, tag("a"), P1]],
    ["a key", [scope("key", "k2")]],
    ["an empty id", [tag("")]],
    ["an id of 257 characters", [tag("x".repeat(257))]],
    ["a control character", [tag("a\u0007")]],
    ["an unknown kind", [scope("galaxy" as ScopeKind, "a")]],
  ])("may not have %s", (_, scopes) => {
    const facts = { surface: "chat", model: "demo" };
    const taken = { keyId: "k1", scopes, granted: 1n, ttlMs: 1, facts };
    for (const given of [hold(1n, { scopes }), charge(1n, { scopes }), settle(1n, { taken })])
      expect(lastDecision([...funded, given])).toBe("invalid_scope");
  });

  test("may be 16 of 256 characters, with equal ids of two kinds", () => {
    const scopes = Array.from({ length: 14 }, (_, i) => tag(`${i}`.padStart(256, "x")));
    const given = hold(1n, { scopes: [...scopes, P1, scope("run", "p1")] });
    expect(lastDecision([...funded, given])).toMatchObject({ granted: 1n });
  });

  test("make a repeated hold a conflict when they differ", () => {
    const given = [...funded, hold(5n, { scopes: [P1, tag("a")] })];
    expect(lastDecision([...given, hold(5n, { scopes: [P1, tag("a")] })])).toMatchObject({ replayed: true });
    for (const scopes of [undefined, [P1], [tag("a"), P1], [P1, tag("b")]])
      expect(lastDecision([...given, hold(5n, { scopes })])).toBe("conflict");
  });

  test("count once where the key is also its parent", () => {
    const stored = emptyWallet();
    lastDecision([...funded, limit(50n), hold(5n, { scopes: [scope("parent_key", "k1")] })], stored);
    expect(countersOf(stored)).toEqual({ l1: [0n, 5n] });
    expect([...stored.holds.values()].map(({ limits }) => limits.length)).toEqual([1]);
  });
});

describe("a limit", () => {
  test.each<[string, object, object]>([
    ["of a scope becomes no template", { scope: P1 }, { scope: P1, each: "tag" }],
    ["of a scope moves to no other", { scope: P1 }, { scope: scope("run", "p1") }],
    ["of the wallet becomes no template", {}, { each: "tag" }],
    ["of a key becomes none of a scope", { keyId: "p1" }, { scope: P1 }],
    ["counts scopes of one kind", { each: "tag" }, { each: "run" }],
  ])("%s", (_, one, other) => {
    for (const [first, second] of [
      [one, other],
      [other, one],
    ] as const) {
      expect(lastDecision([...funded, bound(5n, first), bound(5n, second)])).toBe("conflict");
      expect(lastDecision([...funded, bound(5n, first), deleteLimit(), bound(5n, second)])).toBe("conflict");
    }
  });

  test.each<[string, object]>([
    ["a key and a scope", { keyId: "k1", scope: P1 }],
    ["a key as a scope", { scope: scope("key", "k1") }],
    ["a parent key as a scope", { scope: scope("parent_key", "k1") }],
    ["a scope without an id", { scope: tag("") }],
    ["each scope of an unknown kind", { each: "galaxy" }],
  ])("may not bind %s", (_, changes) =>
    expect(lastDecision([...funded, bound(5n, changes)])).toBe("invalid_scope"),
  );

  test("that is restored counts an open hold once, of each of its subjects", () => {
    const stored = emptyWallet();
    const template = bound(50n, { each: "tag" });
    const open = hold(5n, { scopes: [tag("a"), tag("b")] });
    lastDecision([...funded, template, open, deleteLimit(), template], stored);
    expect(countersOf(stored)).toEqual({ "l1\na": [0n, 5n], "l1\nb": [0n, 5n] });
    expect([...stored.holds.values()].map(({ limits }) => limits.length)).toEqual([2]);
  });
});

describe("the limit that declines a hold", () => {
  test("is the smaller subject of two that are equally tight", () => {
    const given = [
      ...funded,
      bound(5n, { each: "tag" }),
      hold(6n, { scopes: [tag("b"), tag("a"), tag("c")] }),
    ];
    expect(declining(given)).toEqual({ limitId: "l1", scope: tag("a") });
  });

  test("is the limit with the smaller id, whatever its subject", () => {
    const given = [
      ...funded,
      bound(5n, { limitId: "l1", each: "tag" }),
      bound(5n, { limitId: "l1 a", each: "tag" }),
      bound(5n, { limitId: "l", scope: P1 }),
    ];
    expect(declining([...given, hold(6n, { scopes: [tag("a"), P1] })])).toEqual({ limitId: "l", scope: P1 });
    expect(declining([...given, hold(6n, { scopes: [tag("a")] })])).toEqual({
      limitId: "l1",
      scope: tag("a"),
    });
  });

  test("names the key that it is of, also for a hold of a key below", () => {
    const given = [...funded, limit(5n, { keyId: "root" })];
    const child = { keyId: "child", scopes: [scope("parent_key", "root")] };
    expect(declining([...given, hold(6n, child)])).toEqual({ limitId: "l1", scope: scope("key", "root") });
  });
});

describe("a window", () => {
  const window = bound(50n, { period: "5h" });
  const later = (name: string, hours: number) => ({ holdId: holdIdOf(name, NOON_MS + hours * HOUR_MS) });

  test("is not taken back by the end of a hold of an earlier one, in the same batch", () => {
    const stored = emptyWallet();
    lastDecision([...funded, window, hold(10n, { ttlMs: 24 * HOUR_MS })], stored);
    decideBatch(stored, [hold(10n, later("h2", 6))], NOON_MS + 6 * HOUR_MS);
    decideBatch(stored, [settle(5n), hold(10n, later("h3", 7))], NOON_MS + 7 * HOUR_MS);
    expect([...stored.counters.values()]).toMatchObject([
      { periodStartMs: NOON_MS, used: 5n, held: 0n },
      { periodStartMs: NOON_MS + 6 * HOUR_MS, used: 0n, held: 20n },
    ]);
  });

  test("binds while the clock is less than its length back, and overlaps none that begins before", () => {
    for (const [backMs, granted] of [
      [60_001, 10n],
      [5 * HOUR_MS - 1, 10n],
      [5 * HOUR_MS, 50n],
    ] as const) {
      const stored = emptyWallet();
      lastDecision([...funded, window, hold(40n)], stored);
      decideBatch(stored, [settle(40n)], NOON_MS);
      const [decision] = decideBatch(stored, [held("h2", 50n, { minimum: 0n })], NOON_MS - backMs);
      expect(decision).toMatchObject({ result: { granted } });
    }
  });

  test("that has now in it binds before one to come, and the first to come before a later one", () => {
    const stored = emptyWallet();
    lastDecision([...funded, window], stored);
    for (const hours of [12, 7, 1])
      decideBatch(stored, [hold(BigInt(hours), later(`h${hours}`, hours))], NOON_MS + hours * HOUR_MS);
    for (const [hours, periodStartMs] of [
      [5.5, NOON_MS + 1 * HOUR_MS],
      [6.5, NOON_MS + 7 * HOUR_MS],
      [-3.5, NOON_MS + 1 * HOUR_MS],
      [-4, NOON_MS - 4 * HOUR_MS],
    ] as const) {
      const name = `at ${hours}`;
      decideBatch(stored, [hold(0n, later(name, hours))], NOON_MS + hours * HOUR_MS);
      const { limits } = stored.holds.get(later(name, hours).holdId) ?? {};
      expect(limits).toEqual([{ counterId: "l1\n\n", periodStartMs }]);
    }
  });

  test("ends after its hours, and not a millisecond later", () => {
    for (const [afterMs, granted] of [
      [5 * HOUR_MS - 1, 10n],
      [5 * HOUR_MS, 50n],
    ] as const) {
      const stored = emptyWallet();
      lastDecision([...funded, window, hold(40n)], stored);
      decideBatch(stored, [settle(40n)], NOON_MS);
      const [decision] = decideBatch(stored, [held("h2", 50n, { minimum: 0n })], NOON_MS + afterMs);
      expect(decision).toMatchObject({ result: { granted } });
    }
  });

  test("never goes on from a calendar period of its limit", () => {
    const given = [
      ...funded,
      hold(10n),
      settle(10n),
      bound(50n, { period: "day" }),
      bound(50n, { period: "24h" }),
    ];
    const apart = emptyWallet();
    lastDecision([...given, held("h2", 50n)], apart);
    const together = emptyWallet();
    decideBatch(together, [...given, held("h2", 50n)], NOON_MS);
    expect(countersOf(apart)).toEqual({ l1: [10n, 0n], "l1\n\n": [0n, 50n] });
    expect(together.counters).toEqual(apart.counters);
  });
});
