import { describe, expect, test } from "bun:test";
import { FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import type { Books } from "./env.ts";

/** What a hold is granted, and what it is refused for. */
export function describeHolds(books: Books): void {
  describe("a hold", () => {
    test("reserves its amount", async () => {
      expect(await books.hold("h1", 30n)).toEqual({
        granted: 30n,
        balances: { posted: 100n, held: 30n, available: 70n },
        replayed: false,
      });
      expect(await books.balances()).toEqual({ posted: 100n, held: 30n, available: 70n });
    });

    test("may take the last of the money, and not one more", async () => {
      await books.hold("h1", 99n);
      expect(await books.refusal(() => books.hold("h2", 2n))).toBe("balance_on_hold");
      expect(await books.hold("h2", 1n)).toMatchObject({ balances: { available: 0n } });
    });

    test("takes less than it wants when that is enough for it", async () => {
      expect(await books.hold("h1", 120n, { minimum: 100n })).toMatchObject({ granted: 100n });
    });

    test("is refused when there is one less than its minimum", async () => {
      expect(await books.refusal(() => books.hold("h1", 120n, { minimum: 101n }))).toBe(
        "insufficient_balance",
      );
    });

    test("of nothing is granted on an empty wallet, and refused below zero", async () => {
      await books.charge("c1", 100n);
      expect(await books.hold("h1", 5n, { minimum: 0n })).toMatchObject({ granted: 0n });
      expect(await books.hold("h2", 0n)).toMatchObject({ granted: 0n });
      await books.charge("c2", 1n);
      expect(await books.refusal(() => books.hold("h3", 0n))).toBe("insufficient_balance");
    });

    test("fills a limit exactly, and is refused what goes beyond", async () => {
      await books.limit("l1", 50n);
      expect(await books.hold("h1", 60n, { minimum: 10n })).toMatchObject({ granted: 50n });
      expect(await books.refusal(() => books.hold("h2", 1n))).toBe("spending_limit_exceeded");
      expect(await books.hold("h3", 1n, { keyId: "k2" })).toMatchObject({ granted: 1n });
    });

    test("obeys the tightest of the key's limits and the wallet's", async () => {
      await books.limit("key", 40n);
      await books.limit("day", 30n, { period: "day" });
      await books.limit("all", 20n, { keyId: undefined });
      await books.limit("other", 1n, { keyId: "k2" });
      expect(await books.hold("h1", 100n, { minimum: 0n })).toMatchObject({ granted: 20n });
      expect(await books.refusal(() => books.hold("h2", 1n, { keyId: "k3" }))).toBe(
        "spending_limit_exceeded",
      );
    });

    test("says whether the money is gone or only on hold", async () => {
      await books.hold("h1", 60n);
      expect(await books.refusal(() => books.hold("h2", 41n))).toBe("balance_on_hold");
      expect(await books.refusal(() => books.hold("h2", 101n))).toBe("insufficient_balance");
    });

    test("of one id in two wallets is two holds", async () => {
      const other = `${books.walletId}-other`;
      await books.ledger.createWallet(other);
      await books.ledger.topUp({ walletId: other, topUpId: "funds", amount: 9n });
      await books.hold("h1", 30n);
      expect(await books.ledger.hold(books.holdRequest("h1", 9n, { walletId: other }))).toMatchObject({
        granted: 9n,
        replayed: false,
      });
      await books.settle("h1", 30n);
      expect(await books.ledger.receipt(other, holdIdOf("h1"))).toMatchObject({ state: "held" });
    });

    test("that was refused is not remembered: its id is free", async () => {
      expect(await books.refusal(() => books.hold("h1", 101n))).toBe("insufficient_balance");
      expect(await books.hold("h1", 100n)).toMatchObject({ replayed: false });
    });

    test("past its deadline is not taken, and its id is free", async () => {
      const late = { deadlineMs: NOON_MS - 1 };
      expect(await books.refusal(() => books.hold("h1", 10n, {}, late))).toBe("deadline_exceeded");
      const inTime = { deadlineMs: Date.now() + 60_000 };
      expect(await books.hold("h1", 10n, {}, inTime)).toMatchObject({ granted: 10n, replayed: false });
    });

    test("takes the money of one that is past its time, whoever else has more of those", async () => {
      const other = `${books.walletId}-other`;
      await books.ledger.createWallet(other);
      const lost = Array.from({ length: 600 }, (_, i) =>
        books.ledger.hold(
          books.holdRequest(`lost${i}`, 0n, { walletId: other, ttlMs: 1_000, keyId: `k${i % 7}` }),
        ),
      );
      await Promise.allSettled(lost);
      await books.hold("h1", 100n);
      books.clock.nowMs += 60_000;
      expect(await books.hold("h2", 100n)).toMatchObject({ granted: 100n });
      expect(await books.receipt("h1")).toMatchObject({ state: "expired", captured: 0n });
    });

    test("expires what is past its time in the order in which that time came", async () => {
      const lives = { h1: 40_000, h2: 20_000, h3: 30_000, h4: 90_000 };
      for (const [name, ttlMs] of Object.entries(lives)) {
        await books.hold(name, 25n, { ttlMs: 1 });
        await books.extend(name, 2n, { ttlMs });
      }
      books.clock.nowMs += 60_000;
      expect(await books.hold("h5", 60n)).toMatchObject({ granted: 60n });
      const { items } = await books.ledger.transfers(books.walletId, { size: 9 });
      const [third, second, first, ...rest] = items.map(({ transferId }) => transferId);
      expect([first, second, third]).toEqual(["h2", "h3", "h1"].map((name) => holdIdOf(name)));
      expect(rest).toEqual(["funds"]);
    });

    test("that is refused all the same leaves those past their time as they are", async () => {
      await books.hold("h1", 60n);
      await books.extend("h1", 30n);
      books.clock.nowMs += 60_000;
      expect(await books.refusal(() => books.hold("h2", 71n))).toBe("insufficient_balance");
      expect(await books.receipt("h1")).toMatchObject({ state: "held" });
      expect(await books.hold("h2", 70n)).toMatchObject({ granted: 70n });
      expect(await books.receipt("h1")).toMatchObject({ state: "expired", captured: 30n });
    });

    test("past its time, while nothing has expired it, is settled like any other", async () => {
      await books.hold("h1", 60n);
      books.clock.nowMs += 60_001;
      expect(await books.settle("h1", 5n)).toMatchObject({ state: "settled", captured: 5n });
      expect(await books.receipt("h1")).toMatchObject({ late: false });
    });
  });

  describe("a clock that is set back", () => {
    test("shortens no hold, and keeps nothing from ending", async () => {
      for (const name of ["h1", "h2", "h3"]) await books.hold(name, 10n);
      books.clock.nowMs -= 3_600_000;
      await books.extend("h1", 2n);
      await books.settle("h2", 3n);
      expect(await books.hold("h4", 10n)).toMatchObject({ granted: 10n });
      expect(await books.receipt("h2")).toMatchObject({ resolvedAtMs: NOON_MS - 3_600_000 });
      books.clock.nowMs = NOON_MS + 59_999;
      expect(await books.sweep()).toBe(1);
      expect(await books.receipt("h1")).toMatchObject({ state: "held" });
      expect(await books.receipt("h4")).toMatchObject({ state: "expired" });
      books.clock.nowMs += 1;
      expect(await books.sweep()).toBe(2);
      expect(await books.balances()).toEqual({ posted: 95n, held: 0n, available: 95n });
    });
  });

  describe("a clock that ran ahead and is put right", () => {
    const DAYS_MS = 100 * 86_400_000;

    test("gives a hold of that wrong hour its time from now on, and it ends then", async () => {
      await books.hold("before", 10n);
      books.clock.nowMs += DAYS_MS;
      const ofWrongHour = { holdId: holdIdOf("ahead", books.clock.nowMs) };
      await books.ledger.hold(books.holdRequest("ahead", 60n, ofWrongHour));
      books.clock.nowMs = NOON_MS;
      expect(await books.sweep()).toBe(1);
      expect(await books.sweep()).toBe(0);
      expect(await books.balances()).toMatchObject({ held: 70n });
      books.clock.nowMs += 59_999;
      expect(await books.sweep()).toBe(0);
      books.clock.nowMs += 1;
      expect(await books.sweep()).toBe(2);
      expect(await books.balances()).toEqual({ posted: 100n, held: 0n, available: 100n });
    });

    test("leaves alone a hold of a clock that is only a little ahead", async () => {
      books.clock.nowMs += 60_000;
      await books.hold("h1", 60n);
      books.clock.nowMs = NOON_MS;
      expect(await books.sweep()).toBe(0);
    });
  });

  describe("a heartbeat", () => {
    test("keeps a hold open and never shortens its life", async () => {
      await books.hold("h1", 60n);
      books.clock.nowMs += 30_000;
      await books.extend("h1", 0n);
      await books.extend("h1", 0n, { ttlMs: 1 });
      books.clock.nowMs += 59_999;
      expect(await books.sweep()).toBe(0);
      books.clock.nowMs += 1;
      expect(await books.sweep()).toBe(1);
    });

    test("never lowers what an earlier one said", async () => {
      await books.hold("h1", 60n);
      await books.extend("h1", 20n);
      await books.extend("h1", 10n);
      books.clock.nowMs += 60_000;
      await books.sweep();
      expect(await books.receipt("h1")).toMatchObject({ state: "expired", captured: 20n });
    });

    test("saves a hold past its time that nothing has expired", async () => {
      await books.hold("h1", 60n);
      books.clock.nowMs += 70_000;
      await books.extend("h1", 1n);
      expect(await books.sweep()).toBe(0);
      expect(await books.receipt("h1")).toMatchObject({ state: "held" });
    });

    test("does not reopen a hold that has ended", async () => {
      for (const name of ["settled", "released", "expired"]) await books.hold(name, 10n);
      await books.settle("settled", 1n);
      await books.release("released");
      books.clock.nowMs += 60_000;
      await books.sweep();
      for (const name of ["settled", "released", "expired"]) {
        expect(await books.refusal(() => books.extend(name, 5n))).toBe(`hold_${name}`);
      }
    });
  });

  describe("a frozen wallet", () => {
    test("takes no new hold, and everything else", async () => {
      await books.hold("h1", 20n);
      await books.hold("h2", 20n);
      await books.freeze();
      expect(await books.ledger.wallet(books.walletId)).toMatchObject({ state: "frozen" });
      expect(await books.refusal(() => books.hold("h3", 0n))).toBe("wallet_frozen");
      await books.extend("h1", 1n);
      await books.settle("h1", 21n);
      await books.release("h2");
      await books.topUp("t1", 5n);
      await books.refund("r1", "h1", 2n);
      await books.charge("c1", 3n);
      await books.limit("l1", 1n);
      await books.ledger.deleteSpendLimit({ walletId: books.walletId, limitId: "l1" });
      expect(await books.balances()).toEqual({ posted: 83n, held: 0n, available: 83n });
    });

    test("still says what it granted before, and is thawed as often as one likes", async () => {
      await books.hold("h1", 20n);
      await books.freeze();
      await books.freeze();
      expect(await books.hold("h1", 20n)).toMatchObject({ granted: 20n, replayed: true });
      const active = { walletId: books.walletId, state: "active" } as const;
      await books.ledger.setWalletState(active);
      await books.ledger.setWalletState(active);
      expect(await books.hold("h2", 1n)).toMatchObject({ granted: 1n });
    });
  });

  describe("a hold of a late caller", () => {
    test("may carry an id that is up to a day off the ledger's clock, and no more", async () => {
      const day = 86_400_000;
      const at = (ms: number) => ({ holdId: holdIdOf("h1", NOON_MS + ms) });
      for (const ms of [-day - 1, day + 1, 400 * day, -NOON_MS]) {
        expect(await books.refusal(() => books.hold("h1", 1n, at(ms)))).toBe("invalid_id");
      }
      await books.hold("h1", 1n, at(-day));
      await books.hold("h1", 1n, at(day));
    });

    test("is answered for an old id that the ledger knows, whatever its clock says", async () => {
      await books.hold("h1", 10n);
      books.clock.nowMs += 10 * 86_400_000;
      expect(await books.hold("h1", 10n)).toMatchObject({ granted: 10n, replayed: true });
      expect(await books.refusal(() => books.hold("h1", 11n))).toBe("conflict");
      expect(await books.refusal(() => books.hold("h2", 10n))).toBe("invalid_id");
      expect(await books.ledger.settle({ ...settleOf(books, "h1"), amount: 3n })).toMatchObject({
        captured: 3n,
      });
    });
  });
}

function settleOf(books: Books, name: string) {
  return { walletId: books.walletId, holdId: holdIdOf(name), amount: 0n, facts: FACTS };
}
