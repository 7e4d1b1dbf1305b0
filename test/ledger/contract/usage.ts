import { describe, expect, test } from "bun:test";
import type { Scope } from "../../../src/domain/scope.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import type { UsageQuery } from "../../../src/ledger/records.ts";
import { HISTOGRAM_BOUNDS_MS, type UsageDimension } from "../../../src/ledger/usage-records.ts";
import { errorCodeOf, FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";
import { scope } from "./scopes.ts";

const HOUR_MS = 3_600_000;
const DAY_START_MS = NOON_MS - 12 * HOUR_MS;

/** Counts durations by bucket, one by one. */
function histogramOf(durations: readonly (number | undefined)[]): readonly number[] {
  const counts = [...HISTOGRAM_BOUNDS_MS, Number.POSITIVE_INFINITY].map(() => 0);
  for (const ms of durations) {
    if (ms === undefined) continue;
    const bucket = [...HISTOGRAM_BOUNDS_MS, Number.POSITIVE_INFINITY].findIndex((bound) => ms <= bound);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

/** Usage: sums of receipts by group. */
export function describeUsage(env: LedgerEnv): void {
  const usage = async (query: Partial<UsageQuery> = {}) =>
    (await env.ledger.usage({ walletId: env.walletId, groupBy: [], ...query })).rows;

  /** Five receipts over three hours and two days: settled, refunded, open, released and expired. */
  async function fill(): Promise<void> {
    const at = (name: string, hours: number) => ({ holdId: holdIdOf(name, NOON_MS + hours * HOUR_MS) });
    const end = { walletId: env.walletId, facts: FACTS };
    await env.hold("a", 10n, at("a", 0));
    await env.hold("b", 10n, { ...at("b", 0.99), keyId: "k2" });
    await env.hold("c", 10n, { ...at("c", 1), facts: { surface: "messages", model: "large" } });
    await env.hold("d", 10n, at("d", -13));
    await env.hold("e", 10n, { ...at("e", 2), ttlMs: 1 });
    await env.ledger.settle({ ...end, ...at("a", 0), amount: 7n });
    const other = { ...FACTS, upstream: "openai", source: "estimated" } as const;
    await env.ledger.settle({ ...end, ...at("b", 0.99), amount: 5n, facts: other });
    await env.ledger.refund({ walletId: env.walletId, refundId: "r1", ...at("b", 0.99), amount: 2n });
    const timeout = { outcome: "upstream_timeout", source: "none", attempts: [] } as const;
    await env.ledger.release({ ...end, ...at("d", -13), facts: timeout });
    await env.ledger.extend({ walletId: env.walletId, ...at("e", 2), accrued: 3n, ttlMs: 1 });
    env.clock.nowMs += 10;
    await env.sweep();
  }

  describe("usage", () => {
    test("without receipts is one row of zeros, or no row when grouped", async () => {
      const noMoney = { captured: 0n, refunded: 0n, upstreamCost: 0n, costed: 0n };
      const none = { requests: 0, open: 0, ok: 0, settled: 0, released: 0, expired: 0 };
      const [firstOutputMs, totalMs] = [histogramOf([]), histogramOf([])];
      expect(await usage()).toEqual([
        { group: {}, ...none, ...noMoney, usage: NO_USAGE, firstOutputMs, totalMs },
      ]);
      expect(await usage({ groupBy: ["key"] })).toEqual([]);
    });

    test("sums all receipts", async () => {
      await fill();
      const { usage: one } = FACTS;
      expect(await usage()).toEqual([
        {
          group: {},
          requests: 5,
          open: 1,
          ok: 2,
          settled: 2,
          released: 1,
          expired: 1,
          captured: 15n,
          refunded: 2n,
          upstreamCost: 8n,
          // The expiry captured 3n, for an unknown upstream cost.
          costed: 10n,
          usage: {
            inputTokens: 2 * (one?.inputTokens ?? 0),
            cachedInputTokens: 2 * (one?.cachedInputTokens ?? 0),
            cacheWriteTokens: 2 * (one?.cacheWriteTokens ?? 0),
            cacheWrite1hTokens: 2 * (one?.cacheWrite1hTokens ?? 0),
            outputTokens: 2 * (one?.outputTokens ?? 0),
          },
          firstOutputMs: histogramOf([FACTS.firstOutputMs, FACTS.firstOutputMs]),
          // The expired hold ran for 10 ms.
          totalMs: histogramOf([FACTS.totalMs, FACTS.totalMs, 10]),
        },
      ]);
    });

    test.each<[UsageDimension, [string | number | null, number, bigint][]]>([
      [
        "hour",
        [
          [NOON_MS - 13 * HOUR_MS, 1, 0n],
          [NOON_MS, 2, 12n],
          [NOON_MS + HOUR_MS, 1, 0n],
          [NOON_MS + 2 * HOUR_MS, 1, 3n],
        ],
      ],
      [
        "day",
        [
          [DAY_START_MS - 24 * HOUR_MS, 1, 0n],
          [DAY_START_MS, 4, 15n],
        ],
      ],
      [
        "key",
        [
          ["k1", 4, 10n],
          ["k2", 1, 5n],
        ],
      ],
      [
        "surface",
        [
          ["chat", 4, 15n],
          ["messages", 1, 0n],
        ],
      ],
      [
        "model",
        [
          ["demo", 4, 15n],
          ["large", 1, 0n],
        ],
      ],
      [
        "upstream",
        [
          [null, 3, 3n],
          ["anthropic", 1, 7n],
          ["openai", 1, 5n],
        ],
      ],
      [
        "outcome",
        [
          [null, 1, 0n],
          ["internal_error", 1, 3n],
          ["ok", 2, 12n],
          ["upstream_timeout", 1, 0n],
        ],
      ],
      [
        "source",
        [
          [null, 1, 0n],
          ["estimated", 1, 5n],
          ["expired", 1, 3n],
          ["none", 1, 0n],
          ["reported", 1, 7n],
        ],
      ],
    ])("by %s has one sorted row per group", async (dimension, rows) => {
      await fill();
      const found = await usage({ groupBy: [dimension] });
      expect(found.map(({ group, requests, captured }) => [group[dimension], requests, captured])).toEqual(
        rows,
      );
    });

    test("by several dimensions has one sorted row per combination", async () => {
      await fill();
      const found = await usage({ groupBy: ["model", "day", "key"] });
      expect(found.map(({ group, requests }) => ({ ...group, requests }))).toEqual([
        { model: "demo", day: DAY_START_MS - 24 * HOUR_MS, key: "k1", requests: 1 },
        { model: "demo", day: DAY_START_MS, key: "k1", requests: 2 },
        { model: "demo", day: DAY_START_MS, key: "k2", requests: 1 },
        { model: "large", day: DAY_START_MS, key: "k1", requests: 1 },
      ]);
      const four = await usage({ groupBy: ["hour", "source", "outcome", "upstream"] });
      expect(four).toHaveLength(5);
      expect(Object.keys(four[0]?.group ?? {}).sort()).toEqual(["hour", "outcome", "source", "upstream"]);
    });

    test("sums the receipts that match every condition", async () => {
      await fill();
      const cases: [Partial<UsageQuery>, number, bigint][] = [
        [{ keyId: "k1" }, 4, 10n],
        [{ state: "settled" }, 2, 12n],
        [{ state: "held" }, 1, 0n],
        [{ upstream: "openai", surface: "chat" }, 1, 5n],
        [{ outcome: "ok", model: "large" }, 0, 0n],
        [{ fromMs: NOON_MS, toMs: NOON_MS + HOUR_MS }, 2, 12n],
        [{ fromMs: NOON_MS + 1 }, 3, 8n],
        [{ toMs: NOON_MS }, 1, 0n],
      ];
      for (const [query, requests, captured] of cases) {
        expect([query, await usage(query)]).toMatchObject([query, [{ requests, captured }]]);
      }
    });

    test("keeps similar groups separate", async () => {
      for (const [name, keyId] of ["a", "A", "a ", "ä", "a\u0308", "null"].entries()) {
        await env.charge(`c${name}`, 1n, { keyId });
      }
      const found = await usage({ groupBy: ["key"] });
      expect(found.map(({ group }) => group.key)).toEqual(["A", "a", "a ", "a\u0308", "null", "ä"]);
    });

    test("sums amounts above double precision exactly", async () => {
      const most = 4n * 10n ** 18n;
      await env.charge("c1", most);
      await env.topUp("t1", most);
      await env.charge("c2", most - 1n);
      expect(await usage()).toMatchObject([{ requests: 2, captured: 2n * most - 1n }]);
    });

    test("rejects more than four, repeated and unknown dimensions", async () => {
      const bad: unknown[] = [
        ["hour", "day", "key", "surface", "model"],
        ["key", "key"],
        ["keys"],
        [""],
        ["key; DROP TABLE holds"],
        ["__proto__"],
        ["constructor"],
        [undefined],
      ];
      for (const groupBy of bad) {
        const errorCode = await errorCodeOf(usage({ groupBy: groupBy as UsageDimension[] }));
        expect([groupBy, errorCode]).toEqual([groupBy, "invalid_query"]);
      }
      const late = { fromMs: Number.NaN };
      expect(await errorCodeOf(usage(late))).toBe("invalid_query");
    });

    test("is rejected above 10,000 rows", async () => {
      const charge = (i: number) => env.direct.charge(env.chargeRequest(`c${i}`, 1n, { keyId: `key${i}` }));
      await Promise.all(Array.from({ length: 10_000 }, (_, i) => charge(i)));
      const found = await usage({ groupBy: ["key"] });
      expect(found).toHaveLength(10_000);
      await charge(10_000);
      expect(await errorCodeOf(usage({ groupBy: ["key"] }))).toBe("invalid_query");
      expect(await usage()).toMatchObject([{ requests: 10_001, captured: 10_001n }]);
      const dearest = await usage({ groupBy: ["key"], dearestMax: 2 });
      expect(dearest.map(({ group }) => group.key)).toEqual(["key0", "key1"]);
    });

    test("is of the receipts that count for each of several scopes", async () => {
      const [p1, alice, blue] = [
        scope("project", "p1"),
        scope("end_user", "alice"),
        scope("tag", "team=blue"),
      ];
      const c1 = await env.charge("c1", 1n, { scopes: [p1, alice, blue] });
      const c2 = await env.charge("c2", 2n, { scopes: [p1, alice] });
      await env.charge("c3", 4n, { scopes: [p1, scope("end_user", "bob")] });
      await env.charge("c4", 8n, { scopes: [alice, blue] });
      const found = async (...scopes: readonly Scope[]) => {
        const [row] = await usage({ scopes });
        const page = await env.ledger.receipts({ walletId: env.walletId, scopes }, { size: 10 });
        return [row?.captured, page.items.map(({ holdId }) => holdId).toSorted()];
      };
      expect(await found(p1, alice)).toEqual([3n, [c1.receiptId, c2.receiptId].toSorted()]);
      expect(await found(blue, alice, p1, alice)).toEqual([1n, [c1.receiptId]]);
      expect(await found(p1, scope("project", env.walletId))).toEqual([0n, []]);
    });

    test("is of the dearest groups, and of some values of the last dimension", async () => {
      const user = (id: string) => ({ scopes: [scope("end_user", id), scope("project", "p1")] });
      await env.charge("c1", 3n, user("a"));
      await env.charge("c2", 5n, user("b"));
      await env.charge("c3", 4n, user("c"));
      await env.charge("c4", 1n);
      const users = async (query: Partial<UsageQuery>) =>
        (await usage({ groupBy: ["end_user"], ...query })).map(({ group, captured }) => [
          group.end_user,
          captured,
        ]);
      expect(await users({ dearestMax: 2 })).toEqual([
        ["b", 5n],
        ["c", 4n],
      ]);
      expect(await users({ among: ["a", "c", "none"] })).toEqual([
        ["a", 3n],
        ["c", 4n],
      ]);
      const projects = await usage({ groupBy: ["project"] });
      expect(projects.map(({ group, ok }) => [group.project, ok])).toEqual([
        ["p1", 3],
        [env.walletId, 1],
      ]);
      expect(await usage({ scopes: [scope("project", env.walletId)] })).toMatchObject([
        { requests: 1, captured: 1n },
      ]);
      const bad: Partial<UsageQuery>[] = [
        { scopes: Array.from({ length: 9 }, () => scope("project", "p1")) },
        { dearestMax: 0 },
        { dearestMax: 10_001 },
        { dearestMax: 1.5 },
        { among: ["a"] },
        { groupBy: ["key"], among: ["\0"] },
        { groupBy: ["day"], among: ["a"] },
        { groupBy: ["key"], among: Array.from({ length: 201 }, (_, index) => `${index}`) },
      ];
      for (const query of bad)
        expect([query, await errorCodeOf(usage(query))]).toEqual([query, "invalid_query"]);
    });
  });
}
