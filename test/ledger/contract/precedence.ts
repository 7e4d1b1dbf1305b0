import { describe, expect, test } from "bun:test";
import type { ChargeRequest, HoldRequest } from "../../../src/ledger/ledger.ts";
import { FACTS, holdIdOf } from "../samples.ts";
import type { Books } from "./env.ts";

const MOST = 4n * 10n ** 18n;
const H1 = holdIdOf("h1");

/** Which refusal is named when several are due. */
export function describePrecedence(books: Books): void {
  describe("a refusal", () => {
    const none = { walletId: "wallet-none" };
    const bad = { amount: -1n };
    const large = { metadata: { text: "x".repeat(4096) } };

    test.each<[string, Partial<HoldRequest>]>([
      ["invalid_id", { holdId: "x", ...none, ...bad, ...large }],
      ["invalid_id", { keyId: "", ...none, ...bad, ...large }],
      ["invalid_amount", { ...none, ...bad, ...large }],
      ["invalid_amount", { ...none, ttlMs: 0, ...large }],
      ["invalid_metadata", { ...none, ...large }],
      ["wallet_not_found", { ...none, holdId: holdIdOf("h1", 0) }],
      ["conflict", { amount: 7n, minimum: 1n }],
      ["invalid_id", { holdId: holdIdOf("h1", 0) }],
      ["wallet_frozen", { holdId: holdIdOf("h2"), amount: 900n, minimum: 900n }],
    ])("of a hold is %s before any that is less grave", async (refusal, changes) => {
      await books.limit("l1", 5n);
      await books.hold("h1", 5n);
      await books.freeze();
      expect(await books.refusal(() => books.hold("h1", 5n, changes))).toBe(refusal);
    });

    test("of a hold names a limit before the money, and money on hold before money that is gone", async () => {
      await books.limit("l1", 5n);
      await books.hold("h1", 100n, { keyId: "k2" });
      expect(await books.refusal(() => books.hold("h2", 6n))).toBe("spending_limit_exceeded");
      expect(await books.refusal(() => books.hold("h2", 900n))).toBe("spending_limit_exceeded");
      expect(await books.refusal(() => books.hold("h2", 5n))).toBe("balance_on_hold");
    });

    test.each<[string, Partial<ChargeRequest>]>([
      ["invalid_id", { chargeId: "", ...none, ...bad, ...large }],
      ["invalid_amount", { ...none, ...bad, ...large }],
      ["invalid_metadata", { ...none, ...large }],
      ["wallet_not_found", none],
      ["conflict", { amount: MOST }],
      ["balance_overflow", { chargeId: "c2", amount: MOST }],
    ])("of a charge is %s before any that is less grave", async (refusal, changes) => {
      await books.charge("c1", 101n);
      expect(await books.refusal(() => books.charge("c1", 101n, changes))).toBe(refusal);
    });

    test.each([
      ["invalid_id", { refundId: "", ...none, ...bad, holdId: "x" }],
      ["invalid_amount", { ...none, ...bad }],
      ["wallet_not_found", { ...none }],
      ["conflict", { holdId: holdIdOf("none") }],
      ["hold_not_found", { refundId: "r2", holdId: holdIdOf("none") }],
      ["refund_exceeds_charge", { refundId: "r2", amount: MOST }],
      ["balance_overflow", { refundId: "r2", amount: 19n }],
    ])("of a refund is %s before any that is less grave", async (refusal, changes) => {
      await books.hold("h1", 20n);
      await books.settle("h1", 20n);
      await books.refund("r1", "h1", 1n);
      await books.topUp("t1", MOST - 81n);
      const request = { walletId: books.walletId, refundId: "r1", holdId: H1, amount: 1n, ...changes };
      expect(await books.refusal(() => books.ledger.refund(request))).toBe(refusal);
    });

    test.each([
      ["invalid_id", { topUpId: "", ...none, amount: 0n }],
      ["invalid_amount", { ...none, amount: 0n }],
      ["wallet_not_found", none],
      ["conflict", { amount: MOST }],
      ["balance_overflow", { topUpId: "t2", amount: MOST }],
    ])("of a top-up is %s before any that is less grave", async (refusal, changes) => {
      await books.topUp("t1", 1n);
      const request = { walletId: books.walletId, topUpId: "t1", amount: 1n, ...changes };
      expect(await books.refusal(() => books.ledger.topUp(request))).toBe(refusal);
    });

    test.each([
      ["invalid_id", { holdId: "x", ...none, amount: -1n, ...large }],
      ["invalid_amount", { ...none, amount: -1n, ...large }],
      ["invalid_metadata", { ...none, ...large }],
      ["wallet_not_found", none],
      ["hold_not_found", { holdId: holdIdOf("none") }],
      ["hold_released", { holdId: holdIdOf("released"), amount: MOST }],
      ["conflict", { amount: MOST }],
      ["balance_overflow", { holdId: holdIdOf("open"), amount: MOST }],
    ])("of a settlement is %s before any that is less grave", async (refusal, changes) => {
      for (const name of ["h1", "released", "open"]) await books.hold(name, 1n);
      await books.release("released");
      await books.settle("h1", 101n);
      const request = { walletId: books.walletId, holdId: H1, amount: 1n, facts: FACTS, ...changes };
      expect(await books.refusal(() => books.ledger.settle(request))).toBe(refusal);
    });
  });
}
