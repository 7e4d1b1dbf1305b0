import { describe, expect, test } from "bun:test";
import { FACTS } from "../samples.ts";
import type { Books } from "./env.ts";

const MOST = 4n * 10n ** 18n;
/** No double holds it. */
const ODD = 2n ** 53n + 1n;

/** Amounts at the edge of what is kept, to the last nano. The wallet has 100 to begin with. */
export function describeExactness(books: Books): void {
  describe("an amount", () => {
    test("that no double holds is kept to the nano, wherever it is kept", async () => {
      await books.topUp("t1", 10n * ODD);
      await books.limit("l1", 7n * ODD);
      expect(await books.hold("h1", 5n * ODD, { minimum: ODD })).toMatchObject({ granted: 5n * ODD });
      expect(await books.limits()).toMatchObject([{ amount: 7n * ODD, held: 5n * ODD }]);
      const facts = {
        ...FACTS,
        price: { ...FACTS.price, input: 2n ** 60n + 1n, output: ODD, cachedInput: 0n, cacheWrite: 0n },
      } as typeof FACTS;
      await books.settle("h1", 3n * ODD, facts);
      await books.refund("r1", "h1", ODD);
      expect(await books.receipt("h1")).toMatchObject({
        granted: 5n * ODD,
        captured: 3n * ODD,
        refunded: ODD,
        outcome: { price: { input: 2n ** 60n + 1n, output: ODD } },
      });
      expect(await books.balances()).toMatchObject({ posted: 8n * ODD + 100n });
      expect(await books.ledger.transfers(books.walletId, { size: 2 })).toMatchObject({
        items: [
          { amount: ODD, postedAfter: 8n * ODD + 100n },
          { amount: -3n * ODD, postedAfter: 7n * ODD + 100n },
        ],
      });
      const usage = await books.ledger.usage({ walletId: books.walletId, groupBy: [] });
      expect(usage).toMatchObject([{ captured: 3n * ODD, refunded: ODD }]);
    });

    test("fills a wallet to the most it can have, and not beyond", async () => {
      await books.topUp("t1", MOST - 100n);
      expect(await books.refusal(() => books.topUp("t2", 1n))).toBe("balance_overflow");
      expect(await books.hold("h1", MOST)).toMatchObject({ granted: MOST, balances: { available: 0n } });
      await books.settle("h1", MOST);
      expect(await books.balances()).toEqual({ posted: 0n, held: 0n, available: 0n });
      await books.refund("r1", "h1", MOST);
      expect(await books.balances()).toMatchObject({ posted: MOST });
    });

    test("takes a wallet down to the least it can have, and not below", async () => {
      await books.hold("h1", 1n);
      await books.hold("h2", 1n);
      await books.settle("h1", MOST);
      await books.topUp("t1", MOST - 100n);
      await books.charge("c1", MOST);
      expect(await books.balances()).toMatchObject({ posted: -MOST });
      expect(await books.refusal(() => books.charge("c2", 1n))).toBe("balance_overflow");
      expect(await books.refusal(() => books.settle("h2", 1n))).toBe("balance_overflow");
      await books.settle("h2", 0n);
      await books.topUp("t2", 1n);
      await books.charge("c2", 1n);
    });

    test("that was accrued never keeps a hold from expiring", async () => {
      await books.limit("l1", MOST);
      await books.hold("h1", 1n);
      await books.hold("h2", 1n);
      await books.extend("h1", MOST);
      await books.extend("h2", MOST);
      books.clock.nowMs += 60_000;
      expect(await books.sweep()).toBe(2);
      expect(await books.sweep()).toBe(0);
      expect(await books.balances()).toMatchObject({ held: 0n });
      expect(await books.receipt("h1")).toMatchObject({ state: "expired" });
      expect(await books.receipt("h2")).toMatchObject({ state: "expired" });
    });

    test("beyond what was left of the least still lets a hold that needs its money expire it", async () => {
      await books.hold("h1", 100n);
      await books.extend("h1", MOST);
      await books.charge("c1", MOST);
      books.clock.nowMs += 60_000;
      expect(await books.refusal(() => books.hold("h2", 1n))).toBe("insufficient_balance");
      expect(await books.sweep()).toBe(1);
      expect(await books.balances()).toMatchObject({ held: 0n });
    });

    test("may go through a wallet more often than an integer of 64 bits can count", async () => {
      for (const round of [1, 2, 3]) {
        await books.topUp(`t${round}`, MOST - 100n);
        await books.hold(`h${round}`, MOST);
        await books.settle(`h${round}`, MOST);
        await books.topUp(`rest${round}`, 100n);
      }
      expect(await books.audit()).toEqual([]);
    });
  });
}
