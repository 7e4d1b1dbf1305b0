import { describe, expect, test } from "bun:test";
import type { SettleRequest, TakenHold } from "../../../src/ledger/ledger.ts";
import { FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

/** The ends of holds: settlement, release, expiry, and refunds after them. */
export function describeSettlements(env: LedgerEnv): void {
  describeLostHolds(env);
  describe("a settlement", () => {
    test("books the actual cost and frees the rest", async () => {
      await env.hold("h1", 30n);
      expect(await env.settle("h1", 12n)).toEqual({
        state: "settled",
        captured: 12n,
        balances: { posted: 88n, held: 0n, available: 88n },
        replayed: false,
      });
    });

    test("of 0 books nothing and settles the hold", async () => {
      await env.hold("h1", 30n);
      expect(await env.settle("h1", 0n)).toMatchObject({ state: "settled", captured: 0n });
      expect(await env.receipt("h1")).toMatchObject({ state: "settled", captured: 0n });
      expect((await env.ledger.transfers(env.walletId, { size: 10 })).items).toHaveLength(1);
    });

    test("above the held amount is booked in full, also below balance 0", async () => {
      await env.hold("h1", 30n);
      await env.hold("h2", 70n);
      expect(await env.settle("h1", 250n)).toMatchObject({
        captured: 250n,
        balances: { posted: -150n, held: 70n, available: -220n },
      });
      expect(await env.errorCode(() => env.hold("h3", 0n))).toBe("insufficient_balance");
      await env.settle("h2", 1n);
    });

    test("above every limit is booked in full and counted", async () => {
      await env.limit("l1", 30n);
      await env.hold("h1", 30n);
      await env.settle("h1", 45n);
      expect(await env.limits()).toMatchObject([{ used: 45n, held: 0n }]);
      expect(await env.errorCode(() => env.hold("h2", 0n))).toBe("spending_limit_exceeded");
    });

    test("after an expiry books only the excess over its capture", async () => {
      await env.hold("h1", 40n);
      await env.extend("h1", 15n);
      env.clock.nowMs += 60_000;
      await env.sweep();
      expect(await env.settle("h1", 42n)).toEqual({
        state: "settled",
        captured: 42n,
        balances: { posted: 58n, held: 0n, available: 58n },
        replayed: false,
      });
      expect(await env.receipt("h1")).toMatchObject({ late: true, captured: 42n, outcome: FACTS });
      const journal = (await env.ledger.transfers(env.walletId, { size: 10 })).items;
      expect(journal.map(({ kind, amount }) => [kind, amount])).toEqual([
        ["late_settlement", -27n],
        ["expiry_capture", -15n],
        ["top_up", 100n],
      ]);
    });

    test.each([
      ["less than the captured amount", 14n, 15n],
      ["the captured amount", 15n, 15n],
      ["more than the captured amount", 16n, 16n],
      ["0", 0n, 15n],
    ])("of %s after an expiry never lowers the captured amount", async (_, amount, captured) => {
      await env.hold("h1", 40n);
      await env.extend("h1", 15n);
      env.clock.nowMs += 60_000;
      await env.sweep();
      expect(await env.settle("h1", amount)).toMatchObject({ state: "settled", captured });
      expect(await env.settle("h1", amount)).toMatchObject({ captured, replayed: true });
      expect(await env.errorCode(() => env.settle("h1", amount + 1n))).toBe("conflict");
      expect(await env.balances()).toMatchObject({ posted: 100n - captured });
    });

    test("long after an expiry counts in the period the hold was taken in", async () => {
      await env.limit("day", 50n, { period: "day" });
      await env.hold("h1", 40n);
      env.clock.nowMs += 86_400_000;
      await env.sweep();
      await env.settle("h1", 42n);
      expect(await env.limits()).toMatchObject([{ used: 0n, held: 0n }]);
      env.clock.nowMs = NOON_MS;
      expect(await env.limits()).toMatchObject([{ used: 42n, held: 0n }]);
    });

    test("after a release is declined", async () => {
      await env.hold("h1", 10n);
      await env.release("h1");
      expect(await env.errorCode(() => env.settle("h1", 0n))).toBe("hold_released");
      expect(await env.errorCode(() => env.settle("h1", 5n))).toBe("hold_released");
    });
  });

  describe("a release", () => {
    test("frees the whole hold and books nothing", async () => {
      await env.hold("h1", 30n);
      await env.extend("h1", 12n);
      expect(await env.release("h1")).toEqual({
        state: "released",
        captured: 0n,
        balances: { posted: 100n, held: 0n, available: 100n },
        replayed: false,
      });
    });

    test("after a settlement is declined, also after one of 0", async () => {
      await env.hold("h1", 10n);
      await env.settle("h1", 0n);
      expect(await env.errorCode(() => env.release("h1"))).toBe("hold_settled");
    });

    test("after an expiry returns the captured amount and changes nothing", async () => {
      await env.hold("h1", 30n);
      await env.extend("h1", 12n);
      env.clock.nowMs += 60_000;
      await env.sweep();
      const before = await env.snapshot();
      expect(await env.release("h1")).toMatchObject({ state: "expired", captured: 12n, replayed: true });
      expect(await env.snapshot()).toEqual(before);
    });
  });

  describe("an expiry", () => {
    test("captures the accrued amount and frees the rest, once", async () => {
      await env.hold("h1", 40n);
      await env.hold("h2", 40n, { ttlMs: 90_000 });
      await env.extend("h1", 15n);
      env.clock.nowMs += 59_999;
      expect(await env.sweep()).toBe(0);
      env.clock.nowMs += 1;
      expect(await env.sweep()).toBe(1);
      expect(await env.sweep()).toBe(0);
      expect(await env.balances()).toEqual({ posted: 85n, held: 40n, available: 45n });
      expect(await env.receipt("h1")).toMatchObject({
        state: "expired",
        late: false,
        captured: 15n,
        resolvedAtMs: NOON_MS + 60_000,
        outcome: { source: "expired", totalMs: 60_000, attempts: [] },
      });
    });

    test("captures more than was held when more was accrued", async () => {
      await env.hold("h1", 40n);
      await env.extend("h1", 140n);
      env.clock.nowMs += 60_000;
      await env.sweep();
      expect(await env.balances()).toEqual({ posted: -40n, held: 0n, available: -40n });
    });

    test("counts the captured amount against the hold's limits", async () => {
      await env.limit("l1", 100n);
      await env.hold("h1", 40n);
      await env.extend("h1", 15n);
      env.clock.nowMs += 60_000;
      await env.sweep();
      expect(await env.limits()).toMatchObject([{ used: 15n, held: 0n }]);
    });

    test("reaches every due hold, however many there are", async () => {
      const many = Array.from({ length: 1200 }, (_, i) => env.hold(`h${i}`, 0n));
      await Promise.all(many);
      env.clock.nowMs += 60_000;
      let swept = 0;
      for (let due = await env.sweep(); due > 0; due = await env.sweep()) swept += due;
      expect(swept).toBe(1200);
    });
  });

  describe("a refund", () => {
    test("returns part of a cost to the wallet and to the limits", async () => {
      await env.limit("l1", 50n);
      await env.hold("h1", 40n);
      await env.settle("h1", 40n);
      expect(await env.refund("r1", "h1", 15n)).toEqual({
        balances: { posted: 75n, held: 0n, available: 75n },
        replayed: false,
      });
      expect(await env.limits()).toMatchObject([{ used: 25n }]);
      expect(await env.receipt("h1")).toMatchObject({ captured: 40n, refunded: 15n });
    });

    test("is declined above the captured amount", async () => {
      await env.hold("h1", 40n);
      await env.settle("h1", 10n);
      await env.refund("r1", "h1", 7n);
      expect(await env.errorCode(() => env.refund("r2", "h1", 4n))).toBe("refund_exceeds_charge");
      await env.refund("r2", "h1", 3n);
      expect(await env.errorCode(() => env.refund("r3", "h1", 1n))).toBe("refund_exceeds_charge");
    });

    test("is declined without a captured cost", async () => {
      await env.hold("h1", 40n);
      expect(await env.errorCode(() => env.refund("r1", "h1", 1n))).toBe("refund_exceeds_charge");
      await env.release("h1");
      expect(await env.errorCode(() => env.refund("r1", "h1", 1n))).toBe("refund_exceeds_charge");
    });

    test("of an expiry remains after a late settlement", async () => {
      await env.hold("h1", 40n);
      await env.extend("h1", 15n);
      env.clock.nowMs += 60_000;
      await env.sweep();
      await env.refund("r1", "h1", 15n);
      await env.settle("h1", 42n);
      expect(await env.receipt("h1")).toMatchObject({ captured: 42n, refunded: 15n });
      expect(await env.balances()).toMatchObject({ posted: 73n });
      await env.refund("r2", "h1", 27n);
      expect(await env.errorCode(() => env.refund("r3", "h1", 1n))).toBe("refund_exceeds_charge");
    });

    test("of a past period does not lower the counter of the current one", async () => {
      await env.limit("day", 50n, { period: "day" });
      await env.hold("h1", 50n);
      await env.settle("h1", 50n);
      env.clock.nowMs += 86_400_000;
      await env.hold("h2", 50n, { holdId: holdIdOf("h2", env.clock.nowMs) });
      await env.refund("r1", "h1", 50n);
      expect(await env.limits()).toMatchObject([{ used: 0n, held: 50n }]);
    });
  });
}

/** What a loss of power may leave: the end of a hold that the ledger does not have. */
function describeLostHolds(env: LedgerEnv): void {
  const taken: TakenHold = {
    keyId: "k1",
    granted: 30n,
    ttlMs: 60_000,
    facts: { surface: "chat", model: "demo" },
  };
  const settleLost = (amount: bigint, changes: Partial<SettleRequest> = {}) =>
    env.ledger.settle({
      walletId: env.walletId,
      holdId: holdIdOf("lost"),
      amount,
      facts: FACTS,
      taken,
      ...changes,
    });

  describe("the end of a lost hold that it describes", () => {
    test("is booked once, under the id of the hold", async () => {
      const booked = { state: "settled", captured: 12n, balances: { posted: 88n, held: 0n, available: 88n } };
      expect(await settleLost(12n)).toEqual({ ...booked, state: "settled", replayed: false });
      expect(await settleLost(12n)).toEqual({ ...booked, state: "settled", replayed: true });
      expect(await env.errorCode(() => settleLost(13n))).toBe("conflict");
      expect(await env.receipt("lost")).toMatchObject({
        state: "settled",
        late: true,
        keyId: "k1",
        granted: 30n,
        captured: 12n,
        request: taken.facts,
        outcome: FACTS,
      });
      const journal = (await env.ledger.transfers(env.walletId, { size: 10 })).items;
      expect(journal.map(({ kind, amount, holdId }) => [kind, amount, holdId])).toEqual([
        ["late_settlement", -12n, holdIdOf("lost")],
        ["top_up", 100n, undefined],
      ]);
    });

    test("is booked on a frozen wallet, beyond the balance and every limit", async () => {
      await env.limit("l1", 30n);
      await env.freeze();
      expect(await settleLost(250n)).toMatchObject({ captured: 250n, balances: { posted: -150n } });
      expect(await env.limits()).toMatchObject([{ used: 250n, held: 0n }]);
    });

    test("can be refunded like any other", async () => {
      await settleLost(12n);
      expect(await env.refund("r1", "lost", 12n)).toMatchObject({ balances: { posted: 100n } });
    });

    test("settles a hold that is not lost as it was taken", async () => {
      await env.hold("lost", 40n);
      expect(await settleLost(12n)).toMatchObject({ captured: 12n, balances: { posted: 88n, held: 0n } });
      expect(await env.receipt("lost")).toMatchObject({ late: false, granted: 40n });
    });

    test("is written down as a release, when it is one", async () => {
      const request = { walletId: env.walletId, holdId: holdIdOf("lost"), facts: FACTS, taken };
      expect(await env.ledger.release(request)).toMatchObject({ state: "released", replayed: false });
      expect(await env.ledger.release(request)).toMatchObject({ state: "released", replayed: true });
      expect(await env.receipt("lost")).toMatchObject({ state: "released", captured: 0n, granted: 30n });
      expect(await env.balances()).toMatchObject({ posted: 100n, held: 0n });
      expect(await env.errorCode(() => settleLost(1n))).toBe("hold_released");
    });

    test("is declined when the id is more than a day old", async () => {
      env.clock.nowMs += 86_400_000;
      expect(await settleLost(1n)).toMatchObject({ captured: 1n });
      env.clock.nowMs += 1;
      const holdId = holdIdOf("older");
      expect(await env.errorCode(() => settleLost(1n, { holdId }))).toBe("hold_not_found");
    });

    test("is declined when the description cannot be stored", async () => {
      const declined = [
        { ...taken, keyId: "" },
        { ...taken, granted: -1n },
        { ...taken, ttlMs: 0 },
        { ...taken, facts: { surface: "chat", model: "x".repeat(257) } },
      ].map((each) => () => settleLost(1n, { taken: each }));
      expect(await env.errorCodes(declined)).toEqual([
        "invalid_id",
        "invalid_amount",
        "invalid_amount",
        "invalid_facts",
      ]);
    });
  });
}
