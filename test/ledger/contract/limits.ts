import { describe, expect, test } from "bun:test";
import { FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** NOON_MS is a Wednesday in January. */
const MIDNIGHT_MS = NOON_MS + 12 * HOUR_MS;

/** Spending limits: what they bind, when they reset, and what they count. */
export function describeLimits(env: LedgerEnv): void {
  describe("a spending limit", () => {
    test("is listed with the counters of its current period", async () => {
      const { walletId } = env;
      await env.limit("b", 30n, { period: "day" });
      await env.limit("a", 90n, { keyId: undefined });
      await env.limit("c", 1n, { keyId: "k2", period: "week" });
      await env.hold("h1", 10n);
      await env.settle("h1", 7n);
      await env.hold("h2", 5n);
      const all = { walletId, limitId: "a", keyId: undefined, period: "total", amount: 90n } as const;
      const key = { walletId, limitId: "b", keyId: "k1", period: "day", amount: 30n } as const;
      const counted = { used: 7n, held: 5n };
      expect(await env.limits("k1")).toEqual([
        { ...all, ...counted, resetsAtMs: undefined },
        { ...key, ...counted, resetsAtMs: MIDNIGHT_MS },
      ]);
      expect((await env.limits("k2")).map(({ limitId }) => limitId)).toEqual(["a", "c"]);
      expect((await env.limits("k3")).map(({ limitId }) => limitId)).toEqual(["a"]);
      expect((await env.limits()).map(({ limitId }) => limitId)).toEqual(["a", "b", "c"]);
    });

    test.each([
      ["day", MIDNIGHT_MS],
      ["week", MIDNIGHT_MS + 4 * DAY_MS],
      ["month", MIDNIGHT_MS + 17 * DAY_MS],
    ] as const)("of a %s starts anew when the period ends, and not before", async (period, endMs) => {
      await env.limit("l1", 50n, { period });
      await env.hold("h1", 50n);
      await env.settle("h1", 50n);
      env.clock.nowMs = endMs - 1;
      const at = { holdId: holdIdOf("h2", endMs - 1) };
      expect(await env.limits()).toMatchObject([{ used: 50n, resetsAtMs: endMs }]);
      expect(await env.errorCode(() => env.hold("h2", 1n, at))).toBe("spending_limit_exceeded");
      env.clock.nowMs = endMs;
      expect(await env.limits()).toMatchObject([{ used: 0n, held: 0n }]);
      expect(await env.hold("h2", 1n, at)).toMatchObject({ granted: 1n });
    });

    test("of the period total never resets", async () => {
      await env.limit("l1", 50n);
      await env.hold("h1", 50n);
      await env.settle("h1", 50n);
      env.clock.nowMs += 300 * DAY_MS;
      const later = { holdId: holdIdOf("h2", env.clock.nowMs) };
      expect(await env.errorCode(() => env.hold("h2", 1n, later))).toBe("spending_limit_exceeded");
    });

    test.each([
      ["Asia/Kolkata", "day", 6.5],
      ["America/New_York", "day", 17],
      ["Asia/Kathmandu", "day", 6.25],
      ["Pacific/Auckland", "week", 23 + 72],
      ["America/New_York", "month", 17 + 17 * 24],
    ] as const)("in %s of a %s resets at midnight there", async (timeZone, period, hours) => {
      await env.limit("l1", 50n, { period, timeZone });
      const resetsAtMs = NOON_MS + hours * HOUR_MS;
      expect(await env.limits()).toMatchObject([{ timeZone, resetsAtMs }]);
      await env.hold("h1", 50n);
      env.clock.nowMs = resetsAtMs;
      expect(await env.limits()).toMatchObject([{ held: 0n }]);
      await env.settle("h1", 20n);
      expect(await env.limits()).toMatchObject([{ used: 0n }]);
      env.clock.nowMs = resetsAtMs - 1;
      expect(await env.limits()).toMatchObject([{ used: 20n, held: 0n }]);
    });

    test("is declined for an unknown time zone", async () => {
      for (const timeZone of ["", "Mars/Olympus", "+05:30", "Europe/Zürich", "UTC\0", "x".repeat(10_000)]) {
        const errorCode = await env.errorCode(() => env.limit("l1", 5n, { timeZone }));
        expect([timeZone, errorCode]).toEqual([timeZone, "invalid_time_zone"]);
      }
    });

    test("that is lowered keeps its counter", async () => {
      await env.limit("l1", 50n);
      await env.hold("h1", 40n);
      await env.settle("h1", 40n);
      await env.limit("l1", 45n);
      expect(await env.errorCode(() => env.hold("h2", 6n))).toBe("spending_limit_exceeded");
      await env.limit("l1", 39n);
      expect(await env.errorCode(() => env.hold("h2", 0n))).toBe("spending_limit_exceeded");
      await env.limit("l1", 50n);
      expect(await env.hold("h2", 10n)).toMatchObject({ granted: 10n });
    });

    test("and a wallet that decline a hold report the shortfall", async () => {
      await env.limit("l1", 50n);
      await env.hold("h1", 20n);
      const declined = (name: string, amount: bigint, keyId: string) =>
        env.ledger.hold(env.holdRequest(name, amount, { keyId })).catch((error) => error);
      expect(await declined("h2", 31n, "k1")).toMatchObject({
        code: "spending_limit_exceeded",
        shortfall: { needed: 31n, available: 30n, unheld: 50n },
      });
      expect(await declined("h3", 81n, "k2")).toMatchObject({
        code: "balance_on_hold",
        shortfall: { needed: 81n, available: 80n, unheld: 100n },
      });
      expect(await declined("h4", 101n, "k2")).toMatchObject({
        code: "insufficient_balance",
        shortfall: { needed: 101n, available: 80n, unheld: 100n },
      });
    });

    test("applies to later commands of the same batch", async () => {
      const lowered = env.limit("l1", 45n);
      const declined = env.ledger.hold(env.holdRequest("h1", 46n)).catch((error) => error.code);
      const granted = env.hold("h2", 45n);
      await lowered;
      expect(await declined).toBe("spending_limit_exceeded");
      expect(await granted).toMatchObject({ granted: 45n });
    });

    test("does not move from one key to another", async () => {
      await env.limit("l1", 50n);
      for (const keyId of ["k2", undefined]) {
        expect(await env.errorCode(() => env.limit("l1", 50n, { keyId }))).toBe("conflict");
      }
    });

    test("may be set twice", async () => {
      await env.limit("l1", 50n, { period: "week", timeZone: "Asia/Tokyo" });
      const before = await env.snapshot();
      await env.limit("l1", 50n, { period: "week", timeZone: "Asia/Tokyo" });
      expect(await env.snapshot()).toEqual(before);
    });

    test("can change its zone and amount, and drop its zone", async () => {
      await env.limit("l1", 50n, { period: "day", timeZone: "Asia/Tokyo" });
      await env.limit("l1", 60n, { period: "day", timeZone: "America/New_York" });
      expect(await env.limits()).toMatchObject([{ amount: 60n, timeZone: "America/New_York" }]);
      await env.limit("l1", 60n, { period: "day" });
      const [utc] = await env.limits();
      expect(utc).toMatchObject({ resetsAtMs: MIDNIGHT_MS });
      expect(utc?.timeZone).toBeUndefined();
    });

    test("binds no key while deleted and is restored with its counter", async () => {
      const { ledger, walletId } = env;
      await env.limit("l1", 50n);
      await env.hold("h1", 40n);
      await env.hold("h2", 5n);
      await ledger.deleteSpendLimit({ walletId, limitId: "l1" });
      expect(await env.limits()).toEqual([]);
      await env.settle("h1", 38n);
      expect(await env.hold("free", 20n)).toMatchObject({ granted: 20n });
      await env.limit("l1", 50n);
      expect(await env.limits()).toMatchObject([{ used: 38n, held: 25n }]);
      await env.settle("free", 3n);
      expect(await env.errorCode(() => env.hold("h3", 5n))).toBe("spending_limit_exceeded");
      expect(await env.hold("h3", 4n)).toMatchObject({ granted: 4n });
    });

    test("may be deleted when it is missing, but not without a wallet", async () => {
      const { ledger, walletId } = env;
      await ledger.deleteSpendLimit({ walletId, limitId: "none" });
      await env.limit("l1", 50n);
      await ledger.deleteSpendLimit({ walletId, limitId: "l1" });
      await ledger.deleteSpendLimit({ walletId, limitId: "l1" });
      const elsewhere = { walletId: `${walletId}-none`, limitId: "l1" };
      expect(await env.errorCode(() => ledger.deleteSpendLimit(elsewhere))).toBe("wallet_not_found");
    });

    test("is deleted if it is idle only while nothing is held against it, and it has spent so much", async () => {
      const { ledger, walletId } = env;
      await env.limit("l1", 50n);
      await env.hold("h1", 20n);
      const remove = (used: bigint, keyId = "k1") =>
        ledger.deleteSpendLimit({ walletId, limitId: "l1", ifIdle: { keyId, used } });
      expect(await env.errorCode(() => remove(0n))).toBe("conflict");
      await env.settle("h1", 15n);
      expect(await env.errorCode(() => remove(0n))).toBe("conflict");
      expect(await env.errorCode(() => remove(15n, "k2"))).toBe("conflict");
      expect(await env.errorCode(() => remove(15n, ""))).toBe("invalid_id");
      await remove(15n);
      expect(await env.limits()).toEqual([]);
      await remove(99n);
    });

    test("set on a used key counts what the key spent in the current period", async () => {
      await env.hold("h1", 20n);
      await env.settle("h1", 15n);
      await env.refund("r1", "h1", 4n);
      await env.hold("h2", 5n, { keyId: "k2" });
      await env.settle("h2", 5n);
      await env.hold("h3", 7n);
      const before = NOON_MS - 13 * HOUR_MS;
      await env.hold("h4", 9n, { holdId: holdIdOf("h4", before) });
      await env.ledger.settle({
        walletId: env.walletId,
        holdId: holdIdOf("h4", before),
        amount: 9n,
        facts: FACTS,
      });
      await env.limit("day", 50n, { period: "day" });
      await env.limit("week", 50n, { period: "week" });
      await env.limit("ny", 50n, { period: "day", timeZone: "America/New_York" });
      await env.limit("total", 50n, { keyId: undefined });
      expect(await env.limits()).toMatchObject([
        { limitId: "day", used: 11n, held: 7n },
        { limitId: "ny", used: 11n, held: 7n },
        { limitId: "total", used: 25n, held: 7n },
        { limitId: "week", used: 20n, held: 7n },
      ]);
    });

    test("counts what was summed up of hours before it was set, and changes in them", async () => {
      await env.hold("h1", 20n);
      await env.settle("h1", 15n);
      env.clock.nowMs += 3 * HOUR_MS;
      const later = { holdId: holdIdOf("h2", env.clock.nowMs) };
      await env.hold("h2", 8n, later);
      for (let steps = 0; steps < 1_000 && (await env.rollUp()); steps++);
      await env.refund("r1", "h1", 4n);
      await env.limit("l1", 50n, { period: "month", timeZone: "Asia/Kathmandu" });
      await env.limit("l2", 50n, { keyId: undefined });
      const counted = { used: 11n, held: 8n };
      expect(await env.limits()).toMatchObject([counted, counted]);
    });

    test("counts a hold once that was open when the limit was set", async () => {
      await env.hold("h1", 30n);
      await env.hold("h2", 20n);
      await env.limit("l1", 60n, { period: "day" });
      expect(await env.limits()).toMatchObject([{ used: 0n, held: 50n }]);
      await env.settle("h1", 12n);
      await env.ledger.release({ walletId: env.walletId, holdId: holdIdOf("h2"), facts: FACTS });
      expect(await env.limits()).toMatchObject([{ used: 12n, held: 0n }]);
      await env.refund("r1", "h1", 2n);
      await env.limit("l1", 70n, { period: "week" });
      await env.limit("l1", 60n, { period: "day" });
      expect(await env.limits()).toMatchObject([{ used: 10n, held: 0n }]);
    });

    test("set among commands of the same batch counts each of them once", async () => {
      await env.hold("h0", 10n);
      await env.hold("h1", 10n);
      await Promise.all([
        env.settle("h0", 9n),
        env.hold("h2", 5n),
        env.refund("r1", "h0", 1n),
        env.limit("l1", 50n, { period: "month" }),
        env.settle("h1", 6n),
        env.settle("h2", 4n),
        env.hold("h3", 2n),
      ]);
      expect(await env.limits()).toMatchObject([{ used: 18n, held: 2n }]);
    });

    test("set while a key spends counts every request once", async () => {
      const spend = async (name: string) => {
        await env.hold(name, 2n);
        await env.settle(name, 1n);
      };
      const names = Array.from({ length: 40 }, (_, i) => `h${i}`);
      const all = names.map(spend);
      for (const period of ["day", "week", "month", "day"] as const) {
        await env.limit("l1", 1_000n, { period });
        await Bun.sleep(1);
      }
      await Promise.all(all);
      expect(await env.limits()).toMatchObject([{ used: 40n, held: 0n }]);
    });

    test("set, deleted and used in one batch applies in order", async () => {
      const { ledger, walletId } = env;
      const commands = [
        env.limit("l1", 1n),
        ledger.deleteSpendLimit({ walletId, limitId: "l1" }),
        env.hold("h1", 50n),
        env.limit("l1", 5n),
      ];
      await Promise.all(commands);
      expect(await env.limits()).toMatchObject([{ amount: 5n, used: 0n, held: 50n }]);
      expect(await env.receipt("h1")).toMatchObject({ granted: 50n });
    });

    test("of another period or zone counts what that period has seen", async () => {
      await env.limit("l1", 50n, { period: "day" });
      await env.hold("h1", 20n);
      await env.settle("h1", 15n);
      await env.hold("h2", 5n);
      await env.limit("l1", 50n, { period: "week" });
      expect(await env.limits()).toMatchObject([{ used: 15n, held: 5n }]);
      await env.hold("h3", 7n);
      await env.limit("l1", 50n, { period: "day", timeZone: "Asia/Tokyo" });
      expect(await env.limits()).toMatchObject([{ used: 15n, held: 12n }]);
      await env.limit("l1", 50n, { period: "day" });
      expect(await env.limits()).toMatchObject([{ used: 15n, held: 12n }]);
    });

    test("of another period that starts at the same instant keeps the counter", async () => {
      // A Monday and the first of a month: day, week and month start at once.
      env.clock.nowMs = Date.UTC(2026, 5, 1, 12);
      const holdId = holdIdOf("h1", env.clock.nowMs);
      await env.limit("l1", 50n, { period: "day" });
      await env.hold("h1", 20n, { holdId });
      for (const period of ["week", "month", "day"] as const) {
        await env.limit("l1", 50n, { period });
        expect(await env.limits()).toMatchObject([{ period, used: 0n, held: 20n }]);
      }
      await env.limit("l1", 50n);
      expect(await env.limits()).toMatchObject([{ period: "total", used: 0n, held: 20n }]);
    });

    test("is one of any number, all of which count", async () => {
      const names = Array.from({ length: 60 }, (_, i) => `l${i}`);
      const periods = ["total", "day", "week", "month"] as const;
      await Promise.all(names.map((name, i) => env.limit(name, 50n, { period: periods[i % 4] ?? "day" })));
      await env.hold("h1", 30n);
      await env.settle("h1", 20n);
      await env.refund("r1", "h1", 5n);
      await env.hold("h2", 7n);
      const limits = await env.limits("k1");
      expect(limits).toHaveLength(60);
      expect(limits.every(({ used, held }) => used === 15n && held === 7n)).toBe(true);
    });

    test("that is deleted still reserves its id for its key", async () => {
      await env.limit("l1", 50n);
      await env.ledger.deleteSpendLimit({ walletId: env.walletId, limitId: "l1" });
      expect(await env.errorCode(() => env.limit("l1", 50n, { keyId: "k2" }))).toBe("conflict");
    });
  });
}
