import { describe, expect, test } from "bun:test";
import { MOST } from "../given.ts";
import type { LedgerEnv } from "./env.ts";

/** Corrections: top-ups of a negative amount, which take money off a wallet. */
export function describeCorrections(env: LedgerEnv): void {
  describe("a correction", () => {
    test("takes money off, below zero too, and is listed by its own kind", async () => {
      await env.hold("h1", 30n);
      expect(await env.topUp("c1", -90n)).toEqual({
        balances: { posted: 10n, held: 30n, available: -20n },
        replayed: false,
      });
      const { items } = await env.ledger.transfers(env.walletId, { size: 1 });
      expect(items).toMatchObject([
        { kind: "correction", transferId: "c1", amount: -90n, postedAfter: 10n, holdId: undefined },
      ]);
      expect(await env.errorCode(() => env.hold("h2", 0n))).toBe("balance_on_hold");
      await env.settle("h1", 25n);
      expect(await env.balances()).toEqual({ posted: -15n, held: 0n, available: -15n });
    });

    test("leaves a hold that is decided together with it what a due hold had reserved", async () => {
      await env.hold("due", 30n, { ttlMs: 10 });
      env.clock.nowMs += 10;
      const [, held] = await Promise.all([env.topUp("c1", -50n), env.hold("h1", 45n)]);
      expect(held).toMatchObject({ granted: 45n, balances: { posted: 50n, held: 45n } });
    });

    test("is booked once, and its id is that of no top-up", async () => {
      const both = await Promise.all([env.topUp("c1", -5n), env.topUp("c1", -5n)]);
      expect(both.map(({ replayed }) => replayed)).toEqual([false, true]);
      expect(await env.errorCode(() => env.topUp("c1", 5n))).toBe("conflict");
      expect(await env.errorCode(() => env.topUp("c1", -6n))).toBe("conflict");
      expect(await env.errorCode(() => env.topUp("funds", -100n))).toBe("conflict");
      expect(await env.balances()).toMatchObject({ posted: 95n });
    });

    test("lowers the sum of top-ups, and no limit counts it", async () => {
      await env.limit("l1", 50n, { keyId: undefined });
      await env.topUp("c1", -40n);
      const totals = { toppedUp: 60n, charged: 0n, refunded: 0n, expired: 0n, transfers: 2 };
      expect(await env.ledger.journalTotals(env.walletId)).toEqual(totals);
      expect(await env.ledger.journalTotals(env.walletId, { derivesCharged: true })).toEqual(totals);
      expect(await env.limits()).toMatchObject([{ used: 0n }]);
      const { rows } = await env.ledger.usage({ walletId: env.walletId, groupBy: [] });
      expect(rows).toMatchObject([{ requests: 0, captured: 0n }]);
    });

    test("that no balance can hold is declined", async () => {
      expect(await env.errorCode(() => env.topUp("c1", -MOST - 1n))).toBe("invalid_amount");
      await env.topUp("c1", -100n);
      await env.topUp("c2", -MOST);
      expect(await env.errorCode(() => env.topUp("c3", -1n))).toBe("balance_overflow");
    });
  });
}
