import { describe, expect, test } from "bun:test";
import type { CreditSource } from "../../../src/domain/credit.ts";
import type { CreditTotalsQuery } from "../../../src/ledger/records.ts";
import { DAY_MS } from "../given.ts";
import { errorCodeOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

/** Sums of what was granted and what expired, by source. */
export function describeCreditTotals(env: LedgerEnv): void {
  const grant = (topUpId: string, amount: bigint, source: CreditSource, days?: number) => {
    const expiresAtMs = days === undefined ? undefined : env.clock.nowMs + days * DAY_MS;
    return env.ledger.topUp({ walletId: env.walletId, topUpId, amount, source, expiresAtMs });
  };
  /** The totals as "source granted/grants expired/ends", sorted. */
  const totals = async (query: CreditTotalsQuery = {}) =>
    (await env.ledger.creditTotals({ walletId: env.walletId, ...query }))
      .map((each) => `${each.source} ${each.granted}/${each.grants} ${each.expired}/${each.ends}`)
      .toSorted();

  describe("sums of credits", () => {
    test("are of top-ups and ends by source; corrections, charges and refunds are none of them", async () => {
      await grant("a", 10n, "plan", 1);
      await grant("b", 20n, "plan", 2);
      await grant("c", 5n, "promotion", 1);
      await env.topUp("less", -4n);
      await env.hold("h", 3n);
      await env.settle("h", 3n);
      await env.refund("r", "h", 1n);
      env.clock.nowMs += DAY_MS;
      await env.sweep();
      // 4 and then 3 were taken from the promotion and the plan; 1 came back to the plan.
      expect(await totals()).toEqual(["plan 30/2 9/1", "promotion 5/1 0/0", "purchase 100/1 0/0"]);
      env.clock.nowMs += DAY_MS;
      await env.sweep();
      expect(await totals()).toEqual(["plan 30/2 29/2", "promotion 5/1 0/0", "purchase 100/1 0/0"]);
    });

    test("are of the range of the transfers' own time", async () => {
      await grant("a", 10n, "promotion", 1);
      env.clock.nowMs = NOON_MS + 2 * DAY_MS;
      await env.sweep();
      expect(await totals({ toMs: NOON_MS + 1 })).toEqual(["promotion 10/1 0/0", "purchase 100/1 0/0"]);
      expect(await totals({ fromMs: NOON_MS + 1 })).toEqual(["promotion 0/0 10/1"]);
      expect(await totals({ fromMs: NOON_MS + 2 * DAY_MS + 1 })).toEqual([]);
    });

    test("count a top-up that was added to one of its kind, or paid a debt", async () => {
      await grant("first", 1n, "plan", 9);
      for (let index = 0; index < 100; index++) await grant(`g${index}`, 1n, "promotion", 10 + index);
      await grant("more", 7n, "plan", 9);
      await env.charge("x", 1_000n);
      await grant("debt", 2n, "adjustment");
      expect(await totals()).toEqual([
        "adjustment 2/1 0/0",
        "plan 8/2 0/0",
        "promotion 100/100 0/0",
        "purchase 100/1 0/0",
      ]);
    });

    test("without a wallet are of all, and of a query that no ledger takes are declined", async () => {
      const atMs = NOON_MS + 5_000 * DAY_MS;
      env.clock.nowMs = atMs;
      const other = `${env.walletId}/other`;
      await env.ledger.createWallet(other);
      await env.ledger.topUp({ walletId: other, topUpId: "o", amount: 9n, source: "plan" });
      await grant("mine", 4n, "plan");
      const range = { fromMs: atMs, toMs: atMs + 1 };
      const sum = { source: "plan", granted: 13n, grants: 2, expired: 0n, ends: 0 } as const;
      expect(await env.ledger.creditTotals(range)).toEqual([sum]);
      expect(await env.ledger.creditTotals({ ...range, walletId: "wallet-none" })).toEqual([]);
      for (const bad of [{ fromMs: -1 }, { toMs: 0.5 }, { walletId: "\0" }])
        expect(await errorCodeOf(env.ledger.creditTotals(bad))).toBe("invalid_query");
    });
  });
}
