import { describe, expect, test } from "bun:test";
import { FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import type { Books } from "./env.ts";

/** How holds end: settled, released or expired, and what may come after that. */
export function describeSettlements(books: Books): void {
  describe("a settlement", () => {
    test("books the actual cost and frees the rest", async () => {
      await books.hold("h1", 30n);
      expect(await books.settle("h1", 12n)).toEqual({
        state: "settled",
        captured: 12n,
        balances: { posted: 88n, held: 0n, available: 88n },
        replayed: false,
      });
    });

    test("of nothing books nothing, and is not a missing amount", async () => {
      await books.hold("h1", 30n);
      expect(await books.settle("h1", 0n)).toMatchObject({ state: "settled", captured: 0n });
      expect(await books.receipt("h1")).toMatchObject({ state: "settled", captured: 0n });
      expect((await books.ledger.transfers(books.walletId, { size: 10 })).items).toHaveLength(1);
    });

    test("of more than was held is booked in full, also below zero", async () => {
      await books.hold("h1", 30n);
      await books.hold("h2", 70n);
      expect(await books.settle("h1", 250n)).toMatchObject({
        captured: 250n,
        balances: { posted: -150n, held: 70n, available: -220n },
      });
      expect(await books.refusal(() => books.hold("h3", 0n))).toBe("insufficient_balance");
      await books.settle("h2", 1n);
    });

    test("above every limit is booked in full and counts", async () => {
      await books.limit("l1", 30n);
      await books.hold("h1", 30n);
      await books.settle("h1", 45n);
      expect(await books.limits()).toMatchObject([{ used: 45n, held: 0n }]);
      expect(await books.refusal(() => books.hold("h2", 0n))).toBe("spending_limit_exceeded");
    });

    test("after an expiry books only what the expiry had not captured", async () => {
      await books.hold("h1", 40n);
      await books.extend("h1", 15n);
      books.clock.nowMs += 60_000;
      await books.sweep();
      expect(await books.settle("h1", 42n)).toEqual({
        state: "settled",
        captured: 42n,
        balances: { posted: 58n, held: 0n, available: 58n },
        replayed: false,
      });
      expect(await books.receipt("h1")).toMatchObject({ late: true, captured: 42n, outcome: FACTS });
      const journal = (await books.ledger.transfers(books.walletId, { size: 10 })).items;
      expect(journal.map(({ kind, amount }) => [kind, amount])).toEqual([
        ["late_settlement", -27n],
        ["expiry_capture", -15n],
        ["top_up", 100n],
      ]);
    });

    test.each([
      ["less", 14n, 15n],
      ["the same", 15n, 15n],
      ["more", 16n, 16n],
      ["nothing", 0n, 15n],
    ])("of %s after an expiry never books less than that captured", async (_, amount, captured) => {
      await books.hold("h1", 40n);
      await books.extend("h1", 15n);
      books.clock.nowMs += 60_000;
      await books.sweep();
      expect(await books.settle("h1", amount)).toMatchObject({ state: "settled", captured });
      expect(await books.settle("h1", amount)).toMatchObject({ captured, replayed: true });
      expect(await books.refusal(() => books.settle("h1", amount + 1n))).toBe("conflict");
      expect(await books.balances()).toMatchObject({ posted: 100n - captured });
    });

    test("long after an expiry counts against the period that the hold was taken in", async () => {
      await books.limit("day", 50n, { period: "day" });
      await books.hold("h1", 40n);
      books.clock.nowMs += 86_400_000;
      await books.sweep();
      await books.settle("h1", 42n);
      expect(await books.limits()).toMatchObject([{ used: 0n, held: 0n }]);
      books.clock.nowMs = NOON_MS;
      expect(await books.limits()).toMatchObject([{ used: 42n, held: 0n }]);
    });

    test("after a release is refused", async () => {
      await books.hold("h1", 10n);
      await books.release("h1");
      expect(await books.refusal(() => books.settle("h1", 0n))).toBe("hold_released");
      expect(await books.refusal(() => books.settle("h1", 5n))).toBe("hold_released");
    });
  });

  describe("a release", () => {
    test("frees the whole hold, and books nothing", async () => {
      await books.hold("h1", 30n);
      await books.extend("h1", 12n);
      expect(await books.release("h1")).toEqual({
        state: "released",
        captured: 0n,
        balances: { posted: 100n, held: 0n, available: 100n },
        replayed: false,
      });
    });

    test("after a settlement is refused, also when it was for nothing", async () => {
      await books.hold("h1", 10n);
      await books.settle("h1", 0n);
      expect(await books.refusal(() => books.release("h1"))).toBe("hold_settled");
    });

    test("after an expiry says what that captured, and changes nothing", async () => {
      await books.hold("h1", 30n);
      await books.extend("h1", 12n);
      books.clock.nowMs += 60_000;
      await books.sweep();
      const before = await books.snapshot();
      expect(await books.release("h1")).toMatchObject({ state: "expired", captured: 12n, replayed: true });
      expect(await books.snapshot()).toEqual(before);
    });
  });

  describe("an expiry", () => {
    test("captures what was accrued and frees the rest, once", async () => {
      await books.hold("h1", 40n);
      await books.hold("h2", 40n, { ttlMs: 90_000 });
      await books.extend("h1", 15n);
      books.clock.nowMs += 59_999;
      expect(await books.sweep()).toBe(0);
      books.clock.nowMs += 1;
      expect(await books.sweep()).toBe(1);
      expect(await books.sweep()).toBe(0);
      expect(await books.balances()).toEqual({ posted: 85n, held: 40n, available: 45n });
      expect(await books.receipt("h1")).toMatchObject({
        state: "expired",
        late: false,
        captured: 15n,
        resolvedAtMs: NOON_MS + 60_000,
        outcome: { source: "expired", totalMs: 60_000, attempts: [] },
      });
    });

    test("captures more than was held when more was accrued", async () => {
      await books.hold("h1", 40n);
      await books.extend("h1", 140n);
      books.clock.nowMs += 60_000;
      await books.sweep();
      expect(await books.balances()).toEqual({ posted: -40n, held: 0n, available: -40n });
    });

    test("counts what it captured against the hold's limits", async () => {
      await books.limit("l1", 100n);
      await books.hold("h1", 40n);
      await books.extend("h1", 15n);
      books.clock.nowMs += 60_000;
      await books.sweep();
      expect(await books.limits()).toMatchObject([{ used: 15n, held: 0n }]);
    });

    test("reaches every hold that is due, however many there are", async () => {
      const many = Array.from({ length: 1200 }, (_, i) => books.hold(`h${i}`, 0n));
      await Promise.all(many);
      books.clock.nowMs += 60_000;
      let swept = 0;
      for (let due = await books.sweep(); due > 0; due = await books.sweep()) swept += due;
      expect(swept).toBe(1200);
    });
  });

  describe("a refund", () => {
    test("gives back a part of a cost, to the wallet and to the limits", async () => {
      await books.limit("l1", 50n);
      await books.hold("h1", 40n);
      await books.settle("h1", 40n);
      expect(await books.refund("r1", "h1", 15n)).toEqual({
        balances: { posted: 75n, held: 0n, available: 75n },
        replayed: false,
      });
      expect(await books.limits()).toMatchObject([{ used: 25n }]);
      expect(await books.receipt("h1")).toMatchObject({ captured: 40n, refunded: 15n });
    });

    test("gives back no more in all than was captured", async () => {
      await books.hold("h1", 40n);
      await books.settle("h1", 10n);
      await books.refund("r1", "h1", 7n);
      expect(await books.refusal(() => books.refund("r2", "h1", 4n))).toBe("refund_exceeds_charge");
      await books.refund("r2", "h1", 3n);
      expect(await books.refusal(() => books.refund("r3", "h1", 1n))).toBe("refund_exceeds_charge");
    });

    test("needs a captured cost", async () => {
      await books.hold("h1", 40n);
      expect(await books.refusal(() => books.refund("r1", "h1", 1n))).toBe("refund_exceeds_charge");
      await books.release("h1");
      expect(await books.refusal(() => books.refund("r1", "h1", 1n))).toBe("refund_exceeds_charge");
    });

    test("of an expiry stands when the true cost comes later", async () => {
      await books.hold("h1", 40n);
      await books.extend("h1", 15n);
      books.clock.nowMs += 60_000;
      await books.sweep();
      await books.refund("r1", "h1", 15n);
      await books.settle("h1", 42n);
      expect(await books.receipt("h1")).toMatchObject({ captured: 42n, refunded: 15n });
      expect(await books.balances()).toMatchObject({ posted: 73n });
      await books.refund("r2", "h1", 27n);
      expect(await books.refusal(() => books.refund("r3", "h1", 1n))).toBe("refund_exceeds_charge");
    });

    test("of a past period does not make room in the current one", async () => {
      await books.limit("day", 50n, { period: "day" });
      await books.hold("h1", 50n);
      await books.settle("h1", 50n);
      books.clock.nowMs += 86_400_000;
      await books.hold("h2", 50n, { holdId: holdIdOf("h2", books.clock.nowMs) });
      await books.refund("r1", "h1", 50n);
      expect(await books.limits()).toMatchObject([{ used: 0n, held: 50n }]);
    });
  });
}
