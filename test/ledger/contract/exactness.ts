import { describe, expect, test } from "bun:test";
import { FACTS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

const MOST = 4n * 10n ** 18n;
/** Not representable as a double. */
const ODD = 2n ** 53n + 1n;

/** Amounts at the bounds, exact to the nano. The wallet starts with 100. */
export function describeExactness(env: LedgerEnv): void {
  describe("an amount", () => {
    test("above double precision is stored exactly everywhere", async () => {
      await env.topUp("t1", 10n * ODD);
      await env.limit("l1", 7n * ODD);
      expect(await env.hold("h1", 5n * ODD, { minimum: ODD })).toMatchObject({ granted: 5n * ODD });
      expect(await env.limits()).toMatchObject([{ amount: 7n * ODD, held: 5n * ODD }]);
      const facts = {
        ...FACTS,
        price: { ...FACTS.price, input: 2n ** 60n + 1n, output: ODD, cachedInput: 0n, cacheWrite: 0n },
      } as typeof FACTS;
      await env.settle("h1", 3n * ODD, facts);
      await env.refund("r1", "h1", ODD);
      expect(await env.receipt("h1")).toMatchObject({
        granted: 5n * ODD,
        captured: 3n * ODD,
        refunded: ODD,
        outcome: { price: { input: 2n ** 60n + 1n, output: ODD } },
      });
      expect(await env.balances()).toMatchObject({ posted: 8n * ODD + 100n });
      expect(await env.ledger.transfers(env.walletId, { size: 2 })).toMatchObject({
        items: [
          { amount: ODD, postedAfter: 8n * ODD + 100n },
          { amount: -3n * ODD, postedAfter: 7n * ODD + 100n },
        ],
      });
      const { rows: usage } = await env.ledger.usage({ walletId: env.walletId, groupBy: [] });
      expect(usage).toMatchObject([{ captured: 3n * ODD, refunded: ODD }]);
    });

    test("may fill a wallet to the largest balance and not beyond", async () => {
      await env.topUp("t1", MOST - 100n);
      expect(await env.errorCode(() => env.topUp("t2", 1n))).toBe("balance_overflow");
      expect(await env.hold("h1", MOST)).toMatchObject({ granted: MOST, balances: { available: 0n } });
      await env.settle("h1", MOST);
      expect(await env.balances()).toEqual({ posted: 0n, held: 0n, available: 0n });
      await env.refund("r1", "h1", MOST);
      expect(await env.balances()).toMatchObject({ posted: MOST });
    });

    test("may lower a wallet to the smallest balance and not below", async () => {
      await env.hold("h1", 1n);
      await env.hold("h2", 1n);
      await env.settle("h1", MOST);
      await env.topUp("t1", MOST - 100n);
      await env.charge("c1", MOST);
      expect(await env.balances()).toMatchObject({ posted: -MOST });
      expect(await env.errorCode(() => env.charge("c2", 1n))).toBe("balance_overflow");
      expect(await env.errorCode(() => env.settle("h2", 1n))).toBe("balance_overflow");
      await env.settle("h2", 0n);
      await env.topUp("t2", 1n);
      await env.charge("c2", 1n);
    });

    test("that was accrued never prevents an expiry", async () => {
      await env.limit("l1", MOST);
      await env.hold("h1", 1n);
      await env.hold("h2", 1n);
      await env.extend("h1", MOST);
      await env.extend("h2", MOST);
      env.clock.nowMs += 60_000;
      expect(await env.sweep()).toBe(2);
      expect(await env.sweep()).toBe(0);
      expect(await env.balances()).toMatchObject({ held: 0n });
      expect(await env.receipt("h1")).toMatchObject({ state: "expired" });
      expect(await env.receipt("h2")).toMatchObject({ state: "expired" });
    });

    test("above the bookable amount does not prevent a new hold from expiring its hold", async () => {
      await env.hold("h1", 100n);
      await env.extend("h1", MOST);
      await env.charge("c1", MOST);
      env.clock.nowMs += 60_000;
      expect(await env.errorCode(() => env.hold("h2", 1n))).toBe("insufficient_balance");
      expect(await env.sweep()).toBe(1);
      expect(await env.balances()).toMatchObject({ held: 0n });
    });

    test("may be booked so often that the sum exceeds 64 bits", async () => {
      for (const round of [1, 2, 3]) {
        await env.topUp(`t${round}`, MOST - 100n);
        await env.hold(`h${round}`, MOST);
        await env.settle(`h${round}`, MOST);
        await env.topUp(`rest${round}`, 100n);
      }
      expect(await env.audit()).toEqual([]);
    });
  });
}
