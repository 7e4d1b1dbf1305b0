import { describe, expect, test } from "bun:test";
import { createDraw, drawOne } from "../../support/seeded-random.ts";
import { errorCodeOf, FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";
import { declineOf, scope, setLimit } from "./scopes.ts";

const HOUR_MS = 3_600_000;
const P1 = scope("project", "p1");
const U1 = scope("end_user", "u1");
const U2 = scope("end_user", "u2");

/** Windows: periods of whole hours that begin with their first hold. */
export function describeWindows(env: LedgerEnv): void {
  /** Takes a hold with an id of the ledger's time. */
  const hold = (name: string, amount: bigint, changes: Parameters<LedgerEnv["hold"]>[2] = {}) =>
    env.hold(name, amount, { holdId: holdIdOf(name, env.clock.nowMs), ttlMs: 400 * HOUR_MS, ...changes });
  const errorCode = (name: string, amount: bigint, changes = {}) =>
    env.errorCode(() => hold(name, amount, changes));
  const at = (hours: number, ms = 0) => {
    env.clock.nowMs = NOON_MS + hours * HOUR_MS + ms;
  };

  describe("a window", () => {
    test("begins with its first hold, ends after its hours, and begins anew with the next hold", async () => {
      await env.limit("w", 50n, { period: "5h" });
      expect(await env.limits()).toMatchObject([{ period: "5h", used: 0n, held: 0n, resetsAtMs: undefined }]);
      at(2);
      await hold("h1", 30n);
      expect(await env.limits()).toMatchObject([{ held: 30n, resetsAtMs: NOON_MS + 7 * HOUR_MS }]);
      at(6);
      await hold("h2", 20n);
      at(7, -1);
      expect(await errorCode("h3", 1n)).toBe("spending_limit_exceeded");
      expect(await env.limits()).toMatchObject([{ held: 50n, resetsAtMs: NOON_MS + 7 * HOUR_MS }]);
      at(7);
      expect(await env.limits()).toMatchObject([{ used: 0n, held: 0n, resetsAtMs: undefined }]);
      at(9, 123);
      await hold("h3", 40n);
      expect(await env.limits()).toMatchObject([{ held: 40n, resetsAtMs: NOON_MS + 14 * HOUR_MS + 123 }]);
      at(14, 122);
      expect(await errorCode("h4", 11n)).toBe("spending_limit_exceeded");
      at(14, 123);
      await hold("h4", 10n);
      expect(await env.limits()).toMatchObject([{ held: 10n, resetsAtMs: NOON_MS + 19 * HOUR_MS + 123 }]);
    });

    test.each(["1h", "24h", "168h"] as const)("of %s has this length", async (period) => {
      await env.limit("w", 50n, { period });
      await hold("h1", 50n);
      const hours = Number.parseInt(period, 10);
      at(hours, -1);
      expect(await errorCode("h2", 1n)).toBe("spending_limit_exceeded");
      at(hours);
      await hold("h2", 50n);
    });

    test("has 1 to 168 whole hours", async () => {
      for (const period of ["0h", "169h", "999999999h"] as const) {
        expect(await env.errorCode(() => env.limit("w", 5n, { period }))).toBe("invalid_amount");
      }
      for (const period of ["05h", "1.5h", "-1h", "1e1h", "1000000000h"] as const) {
        // A connection cannot carry these.
        expect(["invalid_amount", "unavailable"]).toContain(
          await errorCodeOf(env.limit("w", 5n, { period })),
        );
      }
      expect(await env.limits()).toEqual([]);
    });

    test("is not begun by a declined hold", async () => {
      await env.limit("w", 50n, { period: "5h" });
      expect(await errorCode("h1", 51n)).toBe("spending_limit_exceeded");
      expect(await errorCode("h1", 101n, { keyId: "k2" })).toBe("insufficient_balance");
      expect(await env.limits()).toMatchObject([{ resetsAtMs: undefined }]);
      at(3);
      await hold("h1", 0n);
      expect(await env.limits()).toMatchObject([{ resetsAtMs: NOON_MS + 8 * HOUR_MS }]);
    });

    test("counts the end of a hold in the window in which the hold was taken", async () => {
      await env.limit("w", 90n, { period: "5h" });
      await hold("h1", 20n);
      await hold("h2", 20n);
      await hold("h3", 10n);
      at(6);
      await hold("h4", 10n);
      const { walletId, ledger } = env;
      const ended = (name: string) => ({ walletId, holdId: holdIdOf(name), facts: FACTS });
      await ledger.settle({ ...ended("h1"), amount: 25n });
      await ledger.release(ended("h2"));
      await ledger.refund({ walletId, refundId: "r1", holdId: holdIdOf("h1"), amount: 5n });
      expect(await env.limits()).toMatchObject([{ used: 0n, held: 10n, resetsAtMs: NOON_MS + 11 * HOUR_MS }]);
      at(5, -1);
      await ledger.settle({ ...ended("h3"), amount: 7n });
      at(11, -1);
      expect(await env.limits()).toMatchObject([{ used: 0n, held: 10n }]);
    });

    test("goes on while the clock goes back by less than its length", async () => {
      await env.limit("w", 50n, { period: "5h" });
      at(1);
      await hold("h1", 40n);
      at(1, -30_000);
      expect(await env.limits()).toMatchObject([{ held: 40n, resetsAtMs: NOON_MS + 6 * HOUR_MS }]);
      expect(await errorCode("h2", 11n)).toBe("spending_limit_exceeded");
      await hold("h2", 5n);
      at(1, 1);
      expect(await env.limits()).toMatchObject([{ held: 45n, resetsAtMs: NOON_MS + 6 * HOUR_MS }]);
      at(-4, 1);
      expect(await errorCode("h3", 6n)).toBe("spending_limit_exceeded");
      expect(await env.limits()).toMatchObject([{ held: 45n, resetsAtMs: NOON_MS + 6 * HOUR_MS }]);
      at(-4);
      await hold("h3", 50n);
      expect(await env.limits()).toMatchObject([{ held: 50n, resetsAtMs: NOON_MS + HOUR_MS }]);
      at(1, -1);
      expect(await errorCode("h4", 1n)).toBe("spending_limit_exceeded");
      at(1);
      expect(await errorCode("h4", 6n)).toBe("spending_limit_exceeded");
      expect(await env.limits()).toMatchObject([{ held: 45n, resetsAtMs: NOON_MS + 6 * HOUR_MS }]);
    });

    test("counts ends and refunds of its holds also while the clock is back before it began", async () => {
      await env.limit("w", 50n, { period: "5h" });
      at(1);
      await hold("h1", 40n);
      await hold("h2", 10n);
      at(-1);
      const { walletId, ledger } = env;
      const ended = { walletId, holdId: holdIdOf("h1", NOON_MS + HOUR_MS) };
      await ledger.settle({ ...ended, amount: 35n, facts: FACTS });
      await ledger.refund({ ...ended, refundId: "r1", amount: 5n });
      expect(await env.limits()).toMatchObject([{ used: 30n, held: 10n, resetsAtMs: NOON_MS + 6 * HOUR_MS }]);
      expect(await errorCode("h3", 11n)).toBe("spending_limit_exceeded");
      await hold("h3", 10n);
      at(6, -1);
      expect(await env.limits()).toMatchObject([{ used: 30n, held: 20n, resetsAtMs: NOON_MS + 6 * HOUR_MS }]);
    });

    test("never overlaps another of its limit, however the clock goes and whichever process begins it", async () => {
      // Mostly one process, so that its memory goes on from hold to hold.
      const ledgers = [...Array(4).fill(env.ledger), await env.openAnother()];
      await env.ledger.topUp({ walletId: env.walletId, topUpId: "more", amount: 100_000n });
      await env.limit("w", 50n, { period: "5h" });
      await setLimit(env, "t", 30n, { each: "end_user", period: "1h" });
      const draw = createDraw("windows");
      const begun = new Map<string, Set<number>>();
      let hours = 0;
      for (let step = 0; step < 120; step += 1) {
        hours += drawOne(draw, [0.01, 0.4, 0.6, 2, 4, -0.01, -0.02, -0.5, -2.5, -4]);
        at(hours);
        const ledger = drawOne(draw, ledgers);
        const holdId = holdIdOf(`h${step}`, env.clock.nowMs);
        const request = { holdId, minimum: 0n, scopes: [U1], ttlMs: 400 * HOUR_MS };
        await ledger.hold(env.holdRequest(`h${step}`, 20n, request));
        for (const limit of await ledger.spendLimits(env.walletId, "k1", [U1])) {
          const { limitId, held, amount, resetsAtMs } = limit;
          expect(held <= amount).toBe(true);
          const starts = begun.get(limitId) ?? new Set<number>();
          if (resetsAtMs !== undefined) begun.set(limitId, starts.add(resetsAtMs));
        }
      }
      for (const [limitId, hoursLong] of [
        ["w", 5],
        ["t", 1],
      ] as const) {
        const ends = [...(begun.get(limitId) ?? [])].sort((one, other) => one - other);
        const gaps = ends.slice(1).map((endMs, index) => endMs - (ends[index] ?? 0));
        expect(ends.length).toBeGreaterThan(5);
        expect(Math.min(...gaps)).toBeGreaterThanOrEqual(hoursLong * HOUR_MS);
      }
    });

    test("counts neither what was spent nor the holds that were open before it was set", async () => {
      await hold("h1", 20n, { scopes: [P1] });
      await env.settle("h1", 15n);
      await hold("h2", 10n, { scopes: [P1] });
      await env.limit("key", 50n, { period: "5h" });
      await setLimit(env, "project", 50n, { scope: P1, period: "5h" });
      await setLimit(env, "wallet", 50n, { period: "5h" });
      at(1);
      await env.settle("h2", 12n);
      expect(await env.limits()).toMatchObject(Array(3).fill({ used: 0n, held: 0n, resetsAtMs: undefined }));
      await hold("h3", 50n, { scopes: [P1] });
      expect(await env.limits()).toMatchObject(
        Array(3).fill({ used: 0n, held: 50n, resetsAtMs: NOON_MS + 6 * HOUR_MS }),
      );
    });

    test("goes on when its amount changes", async () => {
      await env.limit("w", 50n, { period: "5h" });
      await hold("h1", 50n);
      at(1);
      await env.limit("w", 60n, { period: "5h" });
      expect(await errorCode("h2", 11n)).toBe("spending_limit_exceeded");
      await hold("h2", 10n);
      expect(await env.limits()).toMatchObject([{ held: 60n, resetsAtMs: NOON_MS + 5 * HOUR_MS }]);
    });

    test("goes on when its length changes, and ends then", async () => {
      await env.limit("w", 50n, { period: "5h" });
      await hold("h1", 40n);
      await env.limit("w", 50n, { period: "24h" });
      at(6);
      expect(await errorCode("h2", 11n)).toBe("spending_limit_exceeded");
      expect(await env.limits()).toMatchObject([{ held: 40n, resetsAtMs: NOON_MS + 24 * HOUR_MS }]);
      await env.limit("w", 50n, { period: "5h" });
      await hold("h2", 50n);
      expect(await env.limits()).toMatchObject([{ held: 50n, resetsAtMs: NOON_MS + 11 * HOUR_MS }]);
    });

    test("of a limit that had a calendar period begins with its next hold, and the other way round", async () => {
      await env.limit("w", 50n, { period: "day" });
      await setLimit(env, "t", 50n, { each: "end_user", period: "day" });
      await hold("h1", 40n, { scopes: [U1] });
      for (const period of ["24h", "day", "24h"] as const) {
        await env.limit("w", 50n, { period });
        await setLimit(env, "t", 50n, { each: "end_user", period });
        const held = period === "day" ? 40n : 0n;
        expect(await env.limits("k1", [U1])).toMatchObject([{ held }, { held }]);
      }
      at(1);
      await hold("h2", 45n, { scopes: [U1] });
      const window = { held: 45n, resetsAtMs: NOON_MS + 25 * HOUR_MS };
      expect(await env.limits("k1", [U1])).toMatchObject([window, window]);
    });

    test("set in the batch that counts a calendar period begins with its next hold", async () => {
      await hold("h1", 10n);
      await Promise.all([
        env.limit("w", 50n, { period: "day" }),
        hold("h2", 5n),
        env.limit("w", 50n, { period: "24h" }),
        hold("h3", 7n),
        env.limit("w", 50n, { period: "day" }),
        env.limit("w", 50n, { period: "24h" }),
        hold("h4", 9n),
      ]);
      expect(await env.limits()).toMatchObject([{ held: 16n, resetsAtMs: NOON_MS + 24 * HOUR_MS }]);
    });

    test("goes on when its limit was deleted and is restored", async () => {
      const { ledger, walletId } = env;
      await env.limit("w", 50n, { period: "5h" });
      await hold("h1", 40n);
      await ledger.deleteSpendLimit({ walletId, limitId: "w" });
      await hold("h2", 20n);
      at(1);
      await env.limit("w", 50n, { period: "5h" });
      expect(await errorCode("h3", 11n)).toBe("spending_limit_exceeded");
      await hold("h3", 10n);
      expect(await env.limits()).toMatchObject([{ held: 50n, resetsAtMs: NOON_MS + 5 * HOUR_MS }]);
    });

    test("is begun by charges and lost holds as by holds", async () => {
      await env.limit("w", 50n, { period: "5h" });
      await env.charge("c1", 20n);
      at(5);
      const facts = { surface: "chat", model: "demo" };
      const taken = { keyId: "k1", granted: 30n, ttlMs: 60_000, facts };
      const { walletId } = env;
      await env.ledger.settle({ walletId, holdId: holdIdOf("lost"), amount: 12n, facts: FACTS, taken });
      expect(await env.limits()).toMatchObject([{ used: 12n, held: 0n, resetsAtMs: NOON_MS + 10 * HOUR_MS }]);
      at(5, -1);
      expect(await errorCode("h1", 39n)).toBe("spending_limit_exceeded");
    });

    test("counts a batch that sets it and begins it", async () => {
      await Promise.all([
        hold("h1", 10n),
        env.limit("w", 50n, { period: "5h" }),
        hold("h2", 20n),
        env.settle("h1", 10n),
        env.settle("h2", 15n),
        hold("h3", 5n),
      ]);
      expect(await env.limits()).toMatchObject([{ used: 15n, held: 5n, resetsAtMs: NOON_MS + 5 * HOUR_MS }]);
    });

    test("of a template begins for each subject with its first hold", async () => {
      await setLimit(env, "w", 20n, { each: "end_user", period: "5h" });
      await hold("h1", 20n, { scopes: [U1] });
      at(3);
      await hold("h2", 20n, { scopes: [U2] });
      const limits = await env.limits("k1", [U1, U2]);
      expect(limits).toMatchObject([
        { subject: "u1", held: 20n, resetsAtMs: NOON_MS + 5 * HOUR_MS },
        { subject: "u2", held: 20n, resetsAtMs: NOON_MS + 8 * HOUR_MS },
      ]);
      at(5);
      expect((await declineOf(env, "h3", 1n, { scopes: [U1, U2] })).limit).toEqual({
        limitId: "w",
        scope: U2,
      });
      await hold("h3", 20n, { scopes: [U1] });
      expect(await env.limits("k1", [U1, U2])).toMatchObject([
        { subject: "u1", held: 20n, resetsAtMs: NOON_MS + 10 * HOUR_MS },
        { subject: "u2", held: 20n, resetsAtMs: NOON_MS + 8 * HOUR_MS },
      ]);
    });

    test("is shared by two processes that begin it at once", async () => {
      const another = await env.openAnother();
      await env.limit("w", 10n, { period: "5h" });
      await setLimit(env, "t", 10n, { each: "end_user", period: "1h" });
      const grants = await Promise.allSettled(
        Array.from({ length: 12 }, (_, i) =>
          (i % 2 === 0 ? env.ledger : another).hold(env.holdRequest(`h${i}`, 2n, { scopes: [U1] })),
        ),
      );
      expect(grants.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
      expect(await env.limits("k1", [U1])).toMatchObject([
        { limitId: "t", held: 10n, resetsAtMs: NOON_MS + HOUR_MS },
        { limitId: "w", held: 10n, resetsAtMs: NOON_MS + 5 * HOUR_MS },
      ]);
    });
  });
}
