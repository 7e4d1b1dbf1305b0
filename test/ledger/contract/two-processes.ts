import { beforeEach, describe, expect, test } from "bun:test";
import type { Ledger, SettleRequest } from "../../../src/ledger/ledger.ts";
import { errorCodeOf, FACTS, holdIdOf } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

const MINUTE_MS = 60_000;

/** What another process commits between two batches of a ledger: the second must know it. */
export function describeTwoProcesses(env: LedgerEnv): void {
  describe("between two batches of a ledger, another process", () => {
    let other: Ledger;

    beforeEach(async () => {
      other = await env.openAnother();
      await env.hold("h1", 60n);
    });

    const walletId = () => env.walletId;
    const next = (amount: bigint) => env.hold("next", amount);
    const settleOf = (name: string, amount: bigint): SettleRequest => ({
      walletId: walletId(),
      holdId: holdIdOf(name),
      amount,
      facts: FACTS,
    });
    const limitOf = (amount: bigint) =>
      ({ walletId: walletId(), limitId: "l1", keyId: "k1", period: "day", amount }) as const;

    test("tops up the wallet, and the next hold uses the new money", async () => {
      expect(await errorCodeOf(next(90n))).toBe("balance_on_hold");
      await other.topUp({ walletId: walletId(), topUpId: "more", amount: 50n });
      expect(await next(90n)).toMatchObject({ balances: { posted: 150n, held: 150n } });
    });

    test("takes the rest of the money, and the next hold is declined", async () => {
      await other.hold(env.holdRequest("theirs", 40n));
      expect(await errorCodeOf(next(1n))).toBe("balance_on_hold");
    });

    test("freezes the wallet, and the next hold is declined", async () => {
      await other.setWalletState({ walletId: walletId(), state: "frozen" });
      expect(await errorCodeOf(next(1n))).toBe("wallet_frozen");
      await other.setWalletState({ walletId: walletId(), state: "active" });
      expect(await next(1n)).toMatchObject({ granted: 1n });
    });

    test("sets, changes and deletes a spending limit, and each binds the next hold", async () => {
      await other.setSpendLimit(limitOf(5n));
      expect(await errorCodeOf(next(6n))).toBe("spending_limit_exceeded");
      await other.setSpendLimit(limitOf(6n));
      expect(await errorCodeOf(next(7n))).toBe("spending_limit_exceeded");
      await other.deleteSpendLimit(limitOf(6n));
      expect(await next(7n)).toMatchObject({ granted: 7n });
    });

    test("spends under a limit, and the next hold has only the rest of it", async () => {
      await env.ledger.setSpendLimit(limitOf(90n));
      await env.hold("mine", 10n);
      await other.settle(settleOf("mine", 9n));
      await other.hold(env.holdRequest("theirs", 20n));
      await other.settle(settleOf("h1", 0n));
      expect(await errorCodeOf(next(62n))).toBe("spending_limit_exceeded");
      expect(await next(61n)).toMatchObject({ granted: 61n });
    });

    test("settles an open hold, and settling it again is a replay or a conflict", async () => {
      await other.settle(settleOf("h1", 20n));
      expect(await env.ledger.settle(settleOf("h1", 20n))).toMatchObject({
        replayed: true,
        balances: { posted: 80n, held: 0n },
      });
      expect(await errorCodeOf(env.ledger.settle(settleOf("h1", 21n)))).toBe("conflict");
      expect(await errorCodeOf(env.ledger.release(settleOf("h1", 0n)))).toBe("hold_settled");
    });

    test("extends an open hold, and the hold does not expire at its old time", async () => {
      await other.extend({ walletId: walletId(), holdId: holdIdOf("h1"), accrued: 3n, ttlMs: 2 * MINUTE_MS });
      env.clock.nowMs += MINUTE_MS;
      expect(await errorCodeOf(next(90n))).toBe("balance_on_hold");
      env.clock.nowMs += MINUTE_MS;
      expect(await next(90n)).toMatchObject({ balances: { posted: 97n, held: 90n } });
    });

    test("expires an open hold, and its settlement is a late one", async () => {
      await env.ledger.extend({
        walletId: walletId(),
        holdId: holdIdOf("h1"),
        accrued: 30n,
        ttlMs: MINUTE_MS,
      });
      env.clock.nowMs += MINUTE_MS;
      expect(await env.sweepElsewhere()).toBe(1);
      expect(await env.ledger.settle(settleOf("h1", 40n))).toMatchObject({ balances: { posted: 60n } });
      expect(await env.receipt("h1")).toMatchObject({ late: true });
    });

    test("takes a hold of an id, and the next hold of this id is a replay", async () => {
      await other.hold(env.holdRequest("next", 5n));
      expect(await next(5n)).toMatchObject({ replayed: true, balances: { held: 65n } });
    });

    test("takes and settles a hold of an id, and the next hold of this id is a replay", async () => {
      await other.hold(env.holdRequest("next", 5n));
      await other.settle(settleOf("next", 5n));
      expect(await next(5n)).toMatchObject({ replayed: true, balances: { posted: 95n, held: 60n } });
    });
  });
}
