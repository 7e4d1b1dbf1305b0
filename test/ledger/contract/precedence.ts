import { describe, expect, test } from "bun:test";
import type { ChargeRequest, HoldRequest } from "../../../src/ledger/ledger.ts";
import type { SpendLimit } from "../../../src/ledger/records.ts";
import { FACTS, holdIdOf } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

const MOST = 4n * 10n ** 18n;
const H1 = holdIdOf("h1");

/** The precedence of codes when a command could be declined with several. */
export function describePrecedence(env: LedgerEnv): void {
  describe("a decline", () => {
    const none = { walletId: "wallet-none" };
    const bad = { amount: -1n };
    const key = { scopes: [{ kind: "key", id: "k1" }] } as const;
    const large = { metadata: { text: "x".repeat(4096) } };

    test.each<[string, Partial<HoldRequest>]>([
      ["invalid_id", { holdId: "x", ...none, ...bad, ...large }],
      ["invalid_id", { keyId: "", ...key, ...none, ...bad, ...large }],
      ["invalid_scope", { ...key, ...none, ...bad, ...large }],
      ["invalid_amount", { ...none, ...bad, ...large }],
      ["invalid_amount", { ...none, ttlMs: 0, ...large }],
      ["invalid_metadata", { ...none, ...large }],
      ["wallet_not_found", { ...none, holdId: holdIdOf("h1", 0) }],
      ["conflict", { amount: 7n, minimum: 1n }],
      ["invalid_id", { holdId: holdIdOf("h1", 0) }],
      ["wallet_frozen", { holdId: holdIdOf("h2"), amount: 900n, minimum: 900n }],
    ])("of a hold has the code %s before any later one", async (errorCode, changes) => {
      await env.limit("l1", 5n);
      await env.hold("h1", 5n);
      await env.freeze();
      expect(await env.errorCode(() => env.hold("h1", 5n, changes))).toBe(errorCode);
    });

    test("of a hold names a limit before the balance, and balance_on_hold before insufficient_balance", async () => {
      await env.limit("l1", 5n);
      await env.hold("h1", 100n, { keyId: "k2" });
      expect(await env.errorCode(() => env.hold("h2", 6n))).toBe("spending_limit_exceeded");
      expect(await env.errorCode(() => env.hold("h2", 900n))).toBe("spending_limit_exceeded");
      expect(await env.errorCode(() => env.hold("h2", 5n))).toBe("balance_on_hold");
    });

    test.each<[string, Partial<ChargeRequest>]>([
      ["invalid_id", { chargeId: "", ...key, ...none, ...bad, ...large }],
      ["invalid_scope", { ...key, ...none, ...bad, ...large }],
      ["invalid_amount", { ...none, ...bad, ...large }],
      ["invalid_metadata", { ...none, ...large }],
      ["wallet_not_found", none],
      ["conflict", { amount: MOST }],
      ["balance_overflow", { chargeId: "c2", amount: MOST }],
    ])("of a charge has the code %s before any later one", async (errorCode, changes) => {
      await env.charge("c1", 101n);
      expect(await env.errorCode(() => env.charge("c1", 101n, changes))).toBe(errorCode);
    });

    test.each<[string, Partial<SpendLimit>]>([
      ["invalid_id", { limitId: "", scope: key.scopes[0], amount: -1n, timeZone: "x", ...none }],
      ["invalid_scope", { scope: key.scopes[0], amount: -1n, timeZone: "x", ...none }],
      ["invalid_amount", { amount: -1n, timeZone: "x", ...none }],
      ["invalid_amount", { period: "169h", timeZone: "x", ...none }],
      ["invalid_time_zone", { timeZone: "x", ...none }],
      ["wallet_not_found", none],
      ["conflict", { each: "tag" }],
    ])("of a spending limit has the code %s before any later one", async (errorCode, changes) => {
      await env.limit("l1", 5n, { keyId: undefined });
      expect(await env.errorCode(() => env.limit("l1", 5n, { keyId: undefined, ...changes }))).toBe(
        errorCode,
      );
    });

    test.each([
      ["invalid_id", { refundId: "", ...none, ...bad, holdId: "x" }],
      ["invalid_amount", { ...none, ...bad }],
      ["wallet_not_found", { ...none }],
      ["conflict", { holdId: holdIdOf("none") }],
      ["hold_not_found", { refundId: "r2", holdId: holdIdOf("none") }],
      ["refund_exceeds_charge", { refundId: "r2", amount: MOST }],
      ["balance_overflow", { refundId: "r2", amount: 19n }],
    ])("of a refund has the code %s before any later one", async (errorCode, changes) => {
      await env.hold("h1", 20n);
      await env.settle("h1", 20n);
      await env.refund("r1", "h1", 1n);
      await env.topUp("t1", MOST - 81n);
      const request = { walletId: env.walletId, refundId: "r1", holdId: H1, amount: 1n, ...changes };
      expect(await env.errorCode(() => env.ledger.refund(request))).toBe(errorCode);
    });

    test.each([
      ["invalid_id", { topUpId: "", ...none, amount: 0n }],
      ["invalid_amount", { ...none, amount: 0n }],
      ["wallet_not_found", none],
      ["conflict", { amount: MOST }],
      ["balance_overflow", { topUpId: "t2", amount: MOST }],
    ])("of a top-up has the code %s before any later one", async (errorCode, changes) => {
      await env.topUp("t1", 1n);
      const request = { walletId: env.walletId, topUpId: "t1", amount: 1n, ...changes };
      expect(await env.errorCode(() => env.ledger.topUp(request))).toBe(errorCode);
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
    ])("of a settlement has the code %s before any later one", async (errorCode, changes) => {
      for (const name of ["h1", "released", "open"]) await env.hold(name, 1n);
      await env.release("released");
      await env.settle("h1", 101n);
      const request = { walletId: env.walletId, holdId: H1, amount: 1n, facts: FACTS, ...changes };
      expect(await env.errorCode(() => env.ledger.settle(request))).toBe(errorCode);
    });
  });
}
