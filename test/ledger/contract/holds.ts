import { describe, expect, test } from "bun:test";
import { FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

/** Holds, heartbeats and frozen wallets. */
export function describeHolds(env: LedgerEnv): void {
  describe("a hold", () => {
    test("reserves its amount", async () => {
      expect(await env.hold("h1", 30n)).toEqual({
        granted: 30n,
        balances: { posted: 100n, held: 30n, available: 70n },
        replayed: false,
      });
      expect(await env.balances()).toEqual({ posted: 100n, held: 30n, available: 70n });
    });

    test("may take the whole balance and no more", async () => {
      await env.hold("h1", 99n);
      expect(await env.errorCode(() => env.hold("h2", 2n))).toBe("balance_on_hold");
      expect(await env.hold("h2", 1n)).toMatchObject({ balances: { available: 0n } });
    });

    test("takes less than its amount when that is at least its minimum", async () =>
      expect(await env.hold("h1", 120n, { minimum: 100n })).toMatchObject({ granted: 100n }));

    test("is declined one nano below its minimum", async () =>
      expect(await env.errorCode(() => env.hold("h1", 120n, { minimum: 101n }))).toBe(
        "insufficient_balance",
      ));

    test("of 0 is granted at balance 0 and declined below", async () => {
      await env.charge("c1", 100n);
      expect(await env.hold("h1", 5n, { minimum: 0n })).toMatchObject({ granted: 0n });
      expect(await env.hold("h2", 0n)).toMatchObject({ granted: 0n });
      await env.charge("c2", 1n);
      expect(await env.errorCode(() => env.hold("h3", 0n))).toBe("insufficient_balance");
    });

    test("may fill a limit exactly and is declined beyond it", async () => {
      await env.limit("l1", 50n);
      expect(await env.hold("h1", 60n, { minimum: 10n })).toMatchObject({ granted: 50n });
      expect(await env.errorCode(() => env.hold("h2", 1n))).toBe("spending_limit_exceeded");
      expect(await env.hold("h3", 1n, { keyId: "k2" })).toMatchObject({ granted: 1n });
    });

    test("is bounded by the tightest of the key's and the wallet's limits", async () => {
      await env.limit("key", 40n);
      await env.limit("day", 30n, { period: "day" });
      await env.limit("all", 20n, { keyId: undefined });
      await env.limit("other", 1n, { keyId: "k2" });
      expect(await env.hold("h1", 100n, { minimum: 0n })).toMatchObject({ granted: 20n });
      expect(await env.errorCode(() => env.hold("h2", 1n, { keyId: "k3" }))).toBe("spending_limit_exceeded");
    });

    test("is declined with balance_on_hold or insufficient_balance", async () => {
      await env.hold("h1", 60n);
      expect(await env.errorCode(() => env.hold("h2", 41n))).toBe("balance_on_hold");
      expect(await env.errorCode(() => env.hold("h2", 101n))).toBe("insufficient_balance");
    });

    test("id used in two wallets names two holds", async () => {
      const other = `${env.walletId}-other`;
      await env.ledger.createWallet(other);
      await env.ledger.topUp({ walletId: other, topUpId: "funds", amount: 9n });
      await env.hold("h1", 30n);
      expect(await env.ledger.hold(env.holdRequest("h1", 9n, { walletId: other }))).toMatchObject({
        granted: 9n,
        replayed: false,
      });
      await env.settle("h1", 30n);
      expect(await env.ledger.receipt(other, holdIdOf("h1"))).toMatchObject({ state: "held" });
    });

    test("that was declined leaves its id unused", async () => {
      expect(await env.errorCode(() => env.hold("h1", 101n))).toBe("insufficient_balance");
      expect(await env.hold("h1", 100n)).toMatchObject({ replayed: false });
    });

    test("past its deadline is declined and leaves its id unused", async () => {
      const late = { deadlineMs: NOON_MS - 1 };
      expect(await env.errorCode(() => env.hold("h1", 10n, {}, late))).toBe("deadline_exceeded");
      const inTime = { deadlineMs: Date.now() + 60_000 };
      expect(await env.hold("h1", 10n, {}, inTime)).toMatchObject({ granted: 10n, replayed: false });
    });

    test("expires holds past their time, whatever other wallets have", async () => {
      const other = `${env.walletId}-other`;
      await env.ledger.createWallet(other);
      const lost = Array.from({ length: 600 }, (_, i) =>
        env.ledger.hold(
          env.holdRequest(`lost${i}`, 0n, { walletId: other, ttlMs: 1_000, keyId: `k${i % 7}` }),
        ),
      );
      await Promise.allSettled(lost);
      await env.hold("h1", 100n);
      env.clock.nowMs += 60_000;
      expect(await env.hold("h2", 100n)).toMatchObject({ granted: 100n });
      expect(await env.receipt("h1")).toMatchObject({ state: "expired", captured: 0n });
    });

    test("expires holds past their time in the order of their expiry", async () => {
      const lives = { h1: 40_000, h2: 20_000, h3: 30_000, h4: 90_000 };
      for (const [name, ttlMs] of Object.entries(lives)) {
        await env.hold(name, 25n, { ttlMs: 1 });
        await env.extend(name, 2n, { ttlMs });
      }
      env.clock.nowMs += 60_000;
      expect(await env.hold("h5", 60n)).toMatchObject({ granted: 60n });
      const { items } = await env.ledger.transfers(env.walletId, { size: 9 });
      const [third, second, first, ...rest] = items.map(({ transferId }) => transferId);
      expect([first, second, third]).toEqual(["h2", "h3", "h1"].map((name) => holdIdOf(name)));
      expect(rest).toEqual(["funds"]);
    });

    test("that is declined nevertheless leaves holds past their time unchanged", async () => {
      await env.hold("h1", 60n);
      await env.extend("h1", 30n);
      env.clock.nowMs += 60_000;
      expect(await env.errorCode(() => env.hold("h2", 71n))).toBe("insufficient_balance");
      expect(await env.receipt("h1")).toMatchObject({ state: "held" });
      expect(await env.hold("h2", 70n)).toMatchObject({ granted: 70n });
      expect(await env.receipt("h1")).toMatchObject({ state: "expired", captured: 30n });
    });

    test("past its time but not expired is settled in full", async () => {
      await env.hold("h1", 60n);
      env.clock.nowMs += 60_001;
      expect(await env.settle("h1", 5n)).toMatchObject({ state: "settled", captured: 5n });
      expect(await env.receipt("h1")).toMatchObject({ late: false });
    });
  });

  describe("a clock that was set back", () => {
    test("shortens no hold and prevents no expiry", async () => {
      for (const name of ["h1", "h2", "h3"]) await env.hold(name, 10n);
      env.clock.nowMs -= 3_600_000;
      await env.extend("h1", 2n);
      await env.settle("h2", 3n);
      expect(await env.hold("h4", 10n)).toMatchObject({ granted: 10n });
      expect(await env.receipt("h2")).toMatchObject({ resolvedAtMs: NOON_MS - 3_600_000 });
      env.clock.nowMs = NOON_MS + 59_999;
      expect(await env.sweep()).toBe(1);
      expect(await env.receipt("h1")).toMatchObject({ state: "held" });
      expect(await env.receipt("h4")).toMatchObject({ state: "expired" });
      env.clock.nowMs += 1;
      expect(await env.sweep()).toBe(2);
      expect(await env.balances()).toEqual({ posted: 95n, held: 0n, available: 95n });
    });
  });

  describe("a clock that ran ahead and was corrected", () => {
    const DAYS_MS = 100 * 86_400_000;

    test("gives a hold taken ahead its time to live from now on", async () => {
      await env.hold("before", 10n);
      env.clock.nowMs += DAYS_MS;
      const ofWrongHour = { holdId: holdIdOf("ahead", env.clock.nowMs) };
      await env.ledger.hold(env.holdRequest("ahead", 60n, ofWrongHour));
      env.clock.nowMs = NOON_MS;
      expect(await env.sweep()).toBe(1);
      expect(await env.sweep()).toBe(0);
      expect(await env.balances()).toMatchObject({ held: 70n });
      env.clock.nowMs += 59_999;
      expect(await env.sweep()).toBe(0);
      env.clock.nowMs += 1;
      expect(await env.sweep()).toBe(2);
      expect(await env.balances()).toEqual({ posted: 100n, held: 0n, available: 100n });
    });

    test("leaves a hold unchanged that was taken only a little ahead", async () => {
      env.clock.nowMs += 60_000;
      await env.hold("h1", 60n);
      env.clock.nowMs = NOON_MS;
      expect(await env.sweep()).toBe(0);
    });
  });

  describe("a heartbeat", () => {
    test("extends a hold and never shortens its life", async () => {
      await env.hold("h1", 60n);
      env.clock.nowMs += 30_000;
      await env.extend("h1", 0n);
      await env.extend("h1", 0n, { ttlMs: 1 });
      env.clock.nowMs += 59_999;
      expect(await env.sweep()).toBe(0);
      env.clock.nowMs += 1;
      expect(await env.sweep()).toBe(1);
    });

    test("never lowers the accrued amount", async () => {
      await env.hold("h1", 60n);
      await env.extend("h1", 20n);
      await env.extend("h1", 10n);
      env.clock.nowMs += 60_000;
      await env.sweep();
      expect(await env.receipt("h1")).toMatchObject({ state: "expired", captured: 20n });
    });

    test("extends a hold past its time that is not expired", async () => {
      await env.hold("h1", 60n);
      env.clock.nowMs += 70_000;
      await env.extend("h1", 1n);
      expect(await env.sweep()).toBe(0);
      expect(await env.receipt("h1")).toMatchObject({ state: "held" });
    });

    test("does not reopen a resolved hold", async () => {
      for (const name of ["settled", "released", "expired"]) await env.hold(name, 10n);
      await env.settle("settled", 1n);
      await env.release("released");
      env.clock.nowMs += 60_000;
      await env.sweep();
      for (const name of ["settled", "released", "expired"]) {
        expect(await env.errorCode(() => env.extend(name, 5n))).toBe(`hold_${name}`);
      }
    });
  });

  describe("a frozen wallet", () => {
    test("declines new holds and takes every other command", async () => {
      await env.hold("h1", 20n);
      await env.hold("h2", 20n);
      await env.freeze();
      expect(await env.ledger.wallet(env.walletId)).toMatchObject({ state: "frozen" });
      expect(await env.errorCode(() => env.hold("h3", 0n))).toBe("wallet_frozen");
      await env.extend("h1", 1n);
      await env.settle("h1", 21n);
      await env.release("h2");
      await env.topUp("t1", 5n);
      await env.refund("r1", "h1", 2n);
      await env.charge("c1", 3n);
      await env.limit("l1", 1n);
      await env.ledger.deleteSpendLimit({ walletId: env.walletId, limitId: "l1" });
      expect(await env.balances()).toEqual({ posted: 83n, held: 0n, available: 83n });
    });

    test("replays earlier holds and can be unfrozen repeatedly", async () => {
      await env.hold("h1", 20n);
      await env.freeze();
      await env.freeze();
      expect(await env.hold("h1", 20n)).toMatchObject({ granted: 20n, replayed: true });
      const active = { walletId: env.walletId, state: "active" } as const;
      await env.ledger.setWalletState(active);
      await env.ledger.setWalletState(active);
      expect(await env.hold("h2", 1n)).toMatchObject({ granted: 1n });
    });
  });

  describe("a hold with an old id", () => {
    test("is taken when its id is at most a day off the ledger's clock", async () => {
      const day = 86_400_000;
      const at = (ms: number) => ({ holdId: holdIdOf("h1", NOON_MS + ms) });
      for (const ms of [-day - 1, day + 1, 400 * day, -NOON_MS]) {
        expect(await env.errorCode(() => env.hold("h1", 1n, at(ms)))).toBe("invalid_id");
      }
      await env.hold("h1", 1n, at(-day));
      await env.hold("h1", 1n, at(day));
    });

    test("is a replay when the ledger has it, at any time", async () => {
      await env.hold("h1", 10n);
      env.clock.nowMs += 10 * 86_400_000;
      expect(await env.hold("h1", 10n)).toMatchObject({ granted: 10n, replayed: true });
      expect(await env.errorCode(() => env.hold("h1", 11n))).toBe("conflict");
      expect(await env.errorCode(() => env.hold("h2", 10n))).toBe("invalid_id");
      expect(await env.ledger.settle({ ...settleOf(env, "h1"), amount: 3n })).toMatchObject({
        captured: 3n,
      });
    });
  });
}

function settleOf(env: LedgerEnv, name: string) {
  return { walletId: env.walletId, holdId: holdIdOf(name), amount: 0n, facts: FACTS };
}
