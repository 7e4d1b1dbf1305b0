import { describe, expect, test } from "bun:test";
import { holdIdOf, NOON_MS } from "../samples.ts";
import type { Books } from "./env.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** NOON_MS is a Wednesday in January. */
const MIDNIGHT_MS = NOON_MS + 12 * HOUR_MS;

/** Spending limits: whom they bind, when they reset, and what they remember. */
export function describeLimits(books: Books): void {
  describe("a spending limit", () => {
    test("is shown with what was used and is held in its current period", async () => {
      const { walletId } = books;
      await books.limit("b", 30n, { period: "day" });
      await books.limit("a", 90n, { keyId: undefined });
      await books.limit("c", 1n, { keyId: "k2", period: "week" });
      await books.hold("h1", 10n);
      await books.settle("h1", 7n);
      await books.hold("h2", 5n);
      const all = { walletId, limitId: "a", keyId: undefined, period: "total", amount: 90n } as const;
      const key = { walletId, limitId: "b", keyId: "k1", period: "day", amount: 30n } as const;
      const counted = { used: 7n, held: 5n };
      expect(await books.limits("k1")).toEqual([
        { ...all, ...counted, resetsAtMs: undefined },
        { ...key, ...counted, resetsAtMs: MIDNIGHT_MS },
      ]);
      expect((await books.limits("k2")).map(({ limitId }) => limitId)).toEqual(["a", "c"]);
      expect((await books.limits("k3")).map(({ limitId }) => limitId)).toEqual(["a"]);
      expect((await books.limits()).map(({ limitId }) => limitId)).toEqual(["a", "b", "c"]);
    });

    test.each([
      ["day", MIDNIGHT_MS],
      ["week", MIDNIGHT_MS + 4 * DAY_MS],
      ["month", MIDNIGHT_MS + 17 * DAY_MS],
    ] as const)("of a %s starts anew when the period ends, and not before", async (period, endMs) => {
      await books.limit("l1", 50n, { period });
      await books.hold("h1", 50n);
      await books.settle("h1", 50n);
      books.clock.nowMs = endMs - 1;
      const at = { holdId: holdIdOf("h2", endMs - 1) };
      expect(await books.limits()).toMatchObject([{ used: 50n, resetsAtMs: endMs }]);
      expect(await books.refusal(() => books.hold("h2", 1n, at))).toBe("spending_limit_exceeded");
      books.clock.nowMs = endMs;
      expect(await books.limits()).toMatchObject([{ used: 0n, held: 0n }]);
      expect(await books.hold("h2", 1n, at)).toMatchObject({ granted: 1n });
    });

    test("in total never starts anew", async () => {
      await books.limit("l1", 50n);
      await books.hold("h1", 50n);
      await books.settle("h1", 50n);
      books.clock.nowMs += 300 * DAY_MS;
      const later = { holdId: holdIdOf("h2", books.clock.nowMs) };
      expect(await books.refusal(() => books.hold("h2", 1n, later))).toBe("spending_limit_exceeded");
    });

    test.each([
      ["Asia/Kolkata", "day", 6.5],
      ["America/New_York", "day", 17],
      ["Asia/Kathmandu", "day", 6.25],
      ["Pacific/Auckland", "week", 23 + 72],
      ["America/New_York", "month", 17 + 17 * 24],
    ] as const)("in %s of a %s resets at midnight there", async (timeZone, period, hours) => {
      await books.limit("l1", 50n, { period, timeZone });
      const resetsAtMs = NOON_MS + hours * HOUR_MS;
      expect(await books.limits()).toMatchObject([{ timeZone, resetsAtMs }]);
      await books.hold("h1", 50n);
      books.clock.nowMs = resetsAtMs;
      expect(await books.limits()).toMatchObject([{ held: 0n }]);
      await books.settle("h1", 20n);
      expect(await books.limits()).toMatchObject([{ used: 0n }]);
      books.clock.nowMs = resetsAtMs - 1;
      expect(await books.limits()).toMatchObject([{ used: 20n, held: 0n }]);
    });

    test("is refused in a zone that there is not", async () => {
      for (const timeZone of ["", "Mars/Olympus", "+05:30", "Europe/Zürich", "UTC\0", "x".repeat(10_000)]) {
        const refusal = await books.refusal(() => books.limit("l1", 5n, { timeZone }));
        expect([timeZone, refusal]).toEqual([timeZone, "invalid_time_zone"]);
      }
    });

    test("that is lowered keeps counting what was spent", async () => {
      await books.limit("l1", 50n);
      await books.hold("h1", 40n);
      await books.settle("h1", 40n);
      await books.limit("l1", 45n);
      expect(await books.refusal(() => books.hold("h2", 6n))).toBe("spending_limit_exceeded");
      await books.limit("l1", 39n);
      expect(await books.refusal(() => books.hold("h2", 0n))).toBe("spending_limit_exceeded");
      await books.limit("l1", 50n);
      expect(await books.hold("h2", 10n)).toMatchObject({ granted: 10n });
    });

    test("that declines a hold says what was needed and what there was, limit and wallet alike", async () => {
      await books.limit("l1", 50n);
      await books.hold("h1", 20n);
      const declined = (name: string, amount: bigint, keyId: string) =>
        books.ledger.hold(books.holdRequest(name, amount, { keyId })).catch((error) => error);
      expect(await declined("h2", 31n, "k1")).toMatchObject({
        refusal: "spending_limit_exceeded",
        shortfall: { needed: 31n, available: 30n, unheld: 50n },
      });
      expect(await declined("h3", 81n, "k2")).toMatchObject({
        refusal: "balance_on_hold",
        shortfall: { needed: 81n, available: 80n, unheld: 100n },
      });
      expect(await declined("h4", 101n, "k2")).toMatchObject({
        refusal: "insufficient_balance",
        shortfall: { needed: 101n, available: 80n, unheld: 100n },
      });
    });

    test("obeys at once what is said in the same turn", async () => {
      const lowered = books.limit("l1", 45n);
      const refused = books.ledger.hold(books.holdRequest("h1", 46n)).catch((error) => error.refusal);
      const granted = books.hold("h2", 45n);
      await lowered;
      expect(await refused).toBe("spending_limit_exceeded");
      expect(await granted).toMatchObject({ granted: 45n });
    });

    test("does not move from one key to another", async () => {
      await books.limit("l1", 50n);
      for (const keyId of ["k2", undefined]) {
        expect(await books.refusal(() => books.limit("l1", 50n, { keyId }))).toBe("conflict");
      }
    });

    test("that is set twice is set once", async () => {
      await books.limit("l1", 50n, { period: "week", timeZone: "Asia/Tokyo" });
      const before = await books.snapshot();
      await books.limit("l1", 50n, { period: "week", timeZone: "Asia/Tokyo" });
      expect(await books.snapshot()).toEqual(before);
    });

    test("takes another zone and another amount, and loses its zone again", async () => {
      await books.limit("l1", 50n, { period: "day", timeZone: "Asia/Tokyo" });
      await books.limit("l1", 60n, { period: "day", timeZone: "America/New_York" });
      expect(await books.limits()).toMatchObject([{ amount: 60n, timeZone: "America/New_York" }]);
      await books.limit("l1", 60n, { period: "day" });
      const [utc] = await books.limits();
      expect(utc).toMatchObject({ resetsAtMs: MIDNIGHT_MS });
      expect(utc?.timeZone).toBeUndefined();
    });

    test("binds nobody when it is deleted, and remembers what it counted when it comes back", async () => {
      const { ledger, walletId } = books;
      await books.limit("l1", 50n);
      await books.hold("h1", 40n);
      await books.hold("h2", 5n);
      await ledger.deleteSpendLimit({ walletId, limitId: "l1" });
      expect(await books.limits()).toEqual([]);
      await books.settle("h1", 38n);
      expect(await books.hold("free", 20n)).toMatchObject({ granted: 20n });
      await books.limit("l1", 50n);
      expect(await books.limits()).toMatchObject([{ used: 38n, held: 5n }]);
      expect(await books.refusal(() => books.hold("h3", 8n))).toBe("spending_limit_exceeded");
      expect(await books.hold("h3", 7n)).toMatchObject({ granted: 7n });
    });

    test("that is not there is deleted without complaint; on no wallet that is not there", async () => {
      const { ledger, walletId } = books;
      await ledger.deleteSpendLimit({ walletId, limitId: "none" });
      await books.limit("l1", 50n);
      await ledger.deleteSpendLimit({ walletId, limitId: "l1" });
      await ledger.deleteSpendLimit({ walletId, limitId: "l1" });
      const elsewhere = { walletId: `${walletId}-none`, limitId: "l1" };
      expect(await books.refusal(() => ledger.deleteSpendLimit(elsewhere))).toBe("wallet_not_found");
    });

    test("set, deleted and used in one turn is what was said last", async () => {
      const { ledger, walletId } = books;
      const said = [
        books.limit("l1", 1n),
        ledger.deleteSpendLimit({ walletId, limitId: "l1" }),
        books.hold("h1", 50n),
        books.limit("l1", 5n),
      ];
      await Promise.all(said);
      expect(await books.limits()).toMatchObject([{ amount: 5n, used: 0n, held: 0n }]);
      expect(await books.receipt("h1")).toMatchObject({ granted: 50n });
    });

    test("of another period or zone starts another count, and finds the old one again", async () => {
      await books.limit("l1", 50n, { period: "day" });
      await books.hold("h1", 20n);
      await books.settle("h1", 15n);
      await books.hold("h2", 5n);
      await books.limit("l1", 50n, { period: "week" });
      expect(await books.limits()).toMatchObject([{ used: 0n, held: 0n }]);
      await books.hold("h3", 7n);
      await books.limit("l1", 50n, { period: "day", timeZone: "Asia/Tokyo" });
      expect(await books.limits()).toMatchObject([{ used: 0n, held: 0n }]);
      await books.limit("l1", 50n, { period: "day" });
      expect(await books.limits()).toMatchObject([{ used: 15n, held: 5n }]);
      await books.limit("l1", 50n, { period: "week" });
      expect(await books.limits()).toMatchObject([{ used: 0n, held: 7n }]);
    });

    test("of another period that starts at the same instant goes on with the count", async () => {
      // A Monday and the first of a month: day, week and month start together.
      books.clock.nowMs = Date.UTC(2026, 5, 1, 12);
      const holdId = holdIdOf("h1", books.clock.nowMs);
      await books.limit("l1", 50n, { period: "day" });
      await books.hold("h1", 20n, { holdId });
      for (const period of ["week", "month", "day"] as const) {
        await books.limit("l1", 50n, { period });
        expect(await books.limits()).toMatchObject([{ period, used: 0n, held: 20n }]);
      }
      await books.limit("l1", 50n);
      expect(await books.limits()).toMatchObject([{ period: "total", used: 0n, held: 0n }]);
    });

    test("is one of as many as one likes, and all of them count", async () => {
      const names = Array.from({ length: 60 }, (_, i) => `l${i}`);
      const periods = ["total", "day", "week", "month"] as const;
      await Promise.all(names.map((name, i) => books.limit(name, 50n, { period: periods[i % 4] ?? "day" })));
      await books.hold("h1", 30n);
      await books.settle("h1", 20n);
      await books.refund("r1", "h1", 5n);
      await books.hold("h2", 7n);
      const limits = await books.limits("k1");
      expect(limits).toHaveLength(60);
      expect(limits.every(({ used, held }) => used === 15n && held === 7n)).toBe(true);
    });

    test("that is deleted still belongs to its key", async () => {
      await books.limit("l1", 50n);
      await books.ledger.deleteSpendLimit({ walletId: books.walletId, limitId: "l1" });
      expect(await books.refusal(() => books.limit("l1", 50n, { keyId: "k2" }))).toBe("conflict");
    });
  });
}
