import { describe, expect, test } from "bun:test";
import { SCOPE_KINDS, type Scope, type ScopeKind } from "../../../src/domain/scope.ts";
import type { HoldRequest, LedgerError } from "../../../src/ledger/ledger.ts";
import type { SpendLimit } from "../../../src/ledger/records.ts";
import { FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

export function scope(kind: ScopeKind, id: string): Scope {
  return { kind, id };
}

const P1 = scope("project", "p1");
const P2 = scope("project", "p2");
const M1 = scope("member", "m1");
const R1 = scope("run", "r1");
const HOUR_MS = 3_600_000;

/** Returns the error of a hold that must be declined. */
export async function declineOf(
  env: LedgerEnv,
  name: string,
  amount: bigint,
  changes: Partial<HoldRequest> = {},
): Promise<LedgerError> {
  const request = env.holdRequest(name, amount, changes);
  const granted = () => {
    throw new Error("Expected a declined hold, got a grant");
  };
  return env.ledger.hold(request).then(granted, (error: LedgerError) => error);
}

/** Sets a limit that binds no key. */
export function setLimit(
  env: LedgerEnv,
  limitId: string,
  amount: bigint,
  changes: Partial<SpendLimit>,
): Promise<void> {
  return env.limit(limitId, amount, { keyId: undefined, ...changes });
}

/** The scopes of holds and charges, and the limits that bind them. */
export function describeScopes(env: LedgerEnv): void {
  describe("a limit of a scope", () => {
    test("binds the holds of this scope, whatever their key, and no other holds", async () => {
      await setLimit(env, "l1", 50n, { scope: P1 });
      await env.hold("h1", 40n, { scopes: [P1] });
      expect(await declineOf(env, "h2", 11n, { keyId: "k2", scopes: [M1, P1] })).toMatchObject({
        code: "spending_limit_exceeded",
        shortfall: { needed: 11n, available: 10n, unheld: 50n },
      });
      await env.hold("h3", 11n, { keyId: "k2", scopes: [P2, M1] });
      await env.hold("h4", 11n, { scopes: [scope("member", "p1")] });
      await env.hold("h5", 11n);
      await env.hold("h6", 10n, { keyId: "k3", scopes: [P1] });
      expect(await env.limits()).toMatchObject([{ limitId: "l1", scope: P1, used: 0n, held: 50n }]);
    });

    test.each(SCOPE_KINDS.filter((kind) => kind !== "key" && kind !== "parent_key"))(
      "of the kind %s binds holds and charges",
      async (kind) => {
        const bound = scope(kind, "Ünïque id / 1");
        await setLimit(env, "l1", 50n, { scope: bound });
        await env.hold("h1", 20n, { scopes: [bound] });
        await env.settle("h1", 15n);
        await env.charge("c1", 30n, { scopes: [bound] });
        expect(await env.limits()).toMatchObject([{ scope: bound, used: 45n, held: 0n }]);
        expect(await declineOf(env, "h2", 6n, { scopes: [bound] })).toMatchObject({
          limit: { limitId: "l1", scope: bound },
        });
      },
    );

    test("grants what is left of it, from the minimum", async () => {
      await setLimit(env, "l1", 50n, { scope: P1 });
      expect(await env.hold("h1", 90n, { minimum: 1n, scopes: [P1] })).toMatchObject({ granted: 50n });
    });

    test("does not bind another wallet's scope of the same id", async () => {
      const other = `${env.walletId}-other`;
      await env.ledger.createWallet(other);
      await env.ledger.topUp({ walletId: other, topUpId: "funds", amount: 100n });
      await setLimit(env, "l1", 5n, { scope: P1 });
      await setLimit(env, "t1", 5n, { each: "end_user" });
      const scopes = [P1, scope("end_user", "u1")];
      await env.hold("h1", 5n, { scopes });
      await env.ledger.hold(env.holdRequest("h1", 60n, { walletId: other, scopes }));
      await env.ledger.setSpendLimit({
        walletId: other,
        limitId: "l1",
        keyId: undefined,
        scope: P1,
        period: "total",
        amount: 70n,
      });
      expect(await env.ledger.spendLimits(other, "k1", scopes)).toMatchObject([
        { limitId: "l1", amount: 70n, held: 60n },
      ]);
      expect(await env.limits("k1", scopes)).toMatchObject([{ held: 5n }, { subject: "u1", held: 5n }]);
      await env.ledger.release({ walletId: other, holdId: holdIdOf("h1"), facts: FACTS });
    });

    test("is decided with the limits of all other scopes, the key and the wallet", async () => {
      await setLimit(env, "wallet", 90n, {});
      await env.limit("key", 80n);
      await setLimit(env, "project", 70n, { scope: P1, period: "month" });
      await setLimit(env, "member", 60n, { scope: M1, period: "week" });
      await setLimit(env, "run", 95n, { scope: R1 });
      const scopes = [P1, M1, R1];
      expect(await env.hold("h1", 100n, { minimum: 0n, scopes })).toMatchObject({ granted: 60n });
      const held = { used: 0n, held: 60n };
      expect(await env.limits("k1", scopes)).toMatchObject(Array(5).fill(held));
      expect(await env.errorCode(() => env.hold("h2", 1n, { scopes }))).toBe("spending_limit_exceeded");
      expect(await env.hold("h2", 100n, { minimum: 0n, scopes: [P1, R1] })).toMatchObject({ granted: 10n });
      expect(await env.hold("h3", 100n, { minimum: 0n, scopes: [R1] })).toMatchObject({ granted: 10n });
      expect(await env.hold("h4", 100n, { minimum: 0n, keyId: "k2" })).toMatchObject({ granted: 10n });
    });

    test("of any number is decided", async () => {
      const scopes = Array.from({ length: 16 }, (_, i) => scope("tag", `n=${i}`));
      await Promise.all(scopes.map((each, i) => setLimit(env, `l${i}`, 50n + BigInt(i), { scope: each })));
      await env.hold("h1", 20n, { scopes });
      await env.settle("h1", 15n);
      await env.hold("h2", 10n, { scopes: scopes.slice(8) });
      const limits = await env.limits("k1", scopes);
      expect(limits).toHaveLength(16);
      expect(limits.every(({ used }) => used === 15n)).toBe(true);
      expect(limits.filter(({ held }) => held === 10n)).toHaveLength(8);
      expect(await declineOf(env, "h3", 60n, { scopes })).toMatchObject({
        limit: { limitId: "l8", scope: scopes[8] },
      });
    });
  });

  describe("the limit that declines a hold", () => {
    test("is the one with the least left of all that bind it", async () => {
      await setLimit(env, "a", 30n, { scope: P1 });
      await setLimit(env, "b", 50n, { scope: M1 });
      await env.limit("c", 40n);
      await setLimit(env, "d", 60n, {});
      await env.hold("h1", 25n, { keyId: "k2", scopes: [M1] });
      const all = { scopes: [P1, M1] };
      // Left: a 30, b 25, c 40, d 35.
      expect(await declineOf(env, "h2", 99n, all)).toMatchObject({
        shortfall: { needed: 99n, available: 25n, unheld: 30n },
        limit: { limitId: "b", scope: M1 },
      });
      await env.settle("h1", 0n);
      expect((await declineOf(env, "h2", 31n, all)).limit).toEqual({ limitId: "a", scope: P1 });
      expect((await declineOf(env, "h2", 41n, { scopes: [M1] })).limit).toEqual({
        limitId: "c",
        scope: scope("key", "k1"),
      });
      expect((await declineOf(env, "h2", 61n, { keyId: "k2" })).limit).toEqual({
        limitId: "d",
        scope: undefined,
      });
    });

    test("is the one with the smaller id when two have equally little left", async () => {
      await setLimit(env, "l2", 20n, { scope: P1 });
      await setLimit(env, "l10", 20n, { scope: M1 });
      await setLimit(env, "l3", 20n, { scope: R1 });
      for (const scopes of [
        [P1, M1, R1],
        [R1, M1, P1],
      ]) {
        expect((await declineOf(env, "h1", 21n, { scopes })).limit).toEqual({ limitId: "l10", scope: M1 });
      }
    });

    test("is overdrawn rather than merely used up", async () => {
      await setLimit(env, "a", 20n, { scope: P1 });
      await setLimit(env, "b", 30n, { scope: M1 });
      await env.hold("h1", 20n, { scopes: [P1, M1] });
      await env.settle("h1", 20n);
      await setLimit(env, "b", 15n, { scope: M1 });
      expect(await declineOf(env, "h2", 1n, { scopes: [P1, M1] })).toMatchObject({
        shortfall: { needed: 1n, available: 0n, unheld: 0n },
        limit: { limitId: "b", scope: M1 },
      });
    });

    test("is none when the balance declines it", async () => {
      await setLimit(env, "l1", 500n, { scope: P1 });
      const decline = await declineOf(env, "h1", 101n, { scopes: [P1] });
      expect([decline.code, decline.limit]).toEqual(["insufficient_balance", undefined]);
    });

    test("is decided after due holds have expired", async () => {
      await setLimit(env, "l1", 20n, { scope: P1 });
      await env.hold("h1", 20n, { ttlMs: 1_000, scopes: [P1] });
      await env.extend("h1", 5n, { ttlMs: 1_000 });
      env.clock.nowMs += 1_000;
      expect(await declineOf(env, "h2", 16n, { scopes: [P1] })).toMatchObject({
        shortfall: { needed: 16n, available: 15n, unheld: 15n },
        limit: { limitId: "l1", scope: P1 },
      });
      expect(await env.limits()).toMatchObject([{ used: 0n, held: 20n }]);
      await env.hold("h2", 15n, { scopes: [P1] });
      expect(await env.limits()).toMatchObject([{ used: 5n, held: 15n }]);
    });
  });

  describe("a limit of a key", () => {
    const child = (keyId: string, ...parents: string[]) => ({
      keyId,
      scopes: parents.map((id) => scope("parent_key", id)),
    });

    test("pools what the keys below it spend", async () => {
      await env.limit("root", 50n, { keyId: "root" });
      await env.hold("h1", 20n, child("k1", "root"));
      await env.hold("h2", 15n, child("k2", "k1", "root"));
      await env.hold("h3", 10n, { keyId: "root" });
      const decline = await declineOf(env, "h4", 6n, child("k3", "root"));
      expect(decline.limit).toEqual({ limitId: "root", scope: scope("key", "root") });
      await env.settle("h2", 25n);
      expect(await env.limits("root")).toMatchObject([{ used: 25n, held: 30n }]);
      await env.hold("h5", 40n, { keyId: "k2" });
      expect(await env.limits("k2", [scope("parent_key", "k1"), scope("parent_key", "root")])).toMatchObject([
        { limitId: "root", keyId: "root", used: 25n, held: 30n },
      ]);
      expect(await env.limits("k2")).toEqual([]);
    });

    test("binds beside the limits of the keys above and below it", async () => {
      await env.limit("root", 50n, { keyId: "root" });
      await env.limit("middle", 30n, { keyId: "middle" });
      await env.limit("leaf", 40n, { keyId: "leaf" });
      const leaf = child("leaf", "middle", "root");
      expect((await declineOf(env, "h1", 31n, leaf)).limit?.limitId).toBe("middle");
      await env.hold("h1", 20n, leaf);
      await env.hold("h2", 25n, { keyId: "root" });
      expect((await declineOf(env, "h3", 6n, leaf)).limit?.limitId).toBe("root");
      await env.hold("h3", 5n, child("middle", "root"));
      const held = (await env.limits()).map((limit) => [limit.limitId, limit.held]);
      expect(held).toEqual([
        ["leaf", 20n],
        ["middle", 25n],
        ["root", 50n],
      ]);
    });

    test("does not count a hold twice whose key is also its parent", async () => {
      await env.limit("l1", 50n);
      await env.hold("h1", 30n, child("k1", "k1"));
      expect(await env.limits()).toMatchObject([{ held: 30n }]);
    });
  });

  describe("what ends a hold", () => {
    const counted = async () => {
      const limits = await env.limits();
      return Object.fromEntries(limits.map((limit) => [limit.limitId, [limit.used, limit.held]]));
    };
    const setAll = () =>
      Promise.all([
        setLimit(env, "day", 90n, { scope: P1, period: "day" }),
        setLimit(env, "total", 90n, { scope: M1 }),
        setLimit(env, "other", 90n, { scope: P2 }),
      ]);
    const scopes = [P1, M1];

    test("changes the counters of its scopes alone", async () => {
      await setAll();
      await env.hold("h1", 20n, { scopes });
      await env.hold("h2", 10n, { scopes });
      await env.hold("h3", 8n, { ttlMs: 1_000, scopes });
      await env.extend("h3", 3n, { ttlMs: 1_000 });
      expect(await counted()).toEqual({ day: [0n, 38n], other: [0n, 0n], total: [0n, 38n] });
      await env.settle("h1", 25n);
      await env.release("h2");
      expect(await counted()).toEqual({ day: [25n, 8n], other: [0n, 0n], total: [25n, 8n] });
      env.clock.nowMs += 1_000;
      await env.sweep();
      expect(await counted()).toEqual({ day: [28n, 0n], other: [0n, 0n], total: [28n, 0n] });
      await env.settle("h3", 7n);
      expect(await counted()).toEqual({ day: [32n, 0n], other: [0n, 0n], total: [32n, 0n] });
      await env.refund("r1", "h1", 5n);
      expect(await counted()).toEqual({ day: [27n, 0n], other: [0n, 0n], total: [27n, 0n] });
      const { receiptId } = await env.charge("c1", 4n, { scopes });
      const { walletId } = env;
      await env.ledger.refund({ walletId, refundId: "r2", holdId: receiptId, amount: 1n });
      expect(await counted()).toEqual({ day: [30n, 0n], other: [0n, 0n], total: [30n, 0n] });
    });

    test("changes the counter of the period in which the hold was taken", async () => {
      await setAll();
      for (const name of ["h1", "h2", "h3"]) {
        await env.hold(name, 10n, { ttlMs: 24 * HOUR_MS, scopes });
      }
      await env.settle("h1", 10n);
      env.clock.nowMs = NOON_MS + 12 * HOUR_MS;
      const today = { holdId: holdIdOf("h4", env.clock.nowMs), scopes };
      await env.hold("h4", 5n, today);
      await env.settle("h2", 9n);
      await env.release("h3");
      await env.refund("r1", "h1", 4n);
      expect(await counted()).toEqual({ day: [0n, 5n], other: [0n, 0n], total: [15n, 5n] });
      env.clock.nowMs -= 1;
      expect(await counted()).toEqual({ day: [15n, 0n], other: [0n, 0n], total: [15n, 5n] });
    });

    test("counts a hold that the ledger has lost for the scopes that it describes", async () => {
      await setAll();
      const taken = {
        keyId: "k1",
        scopes,
        granted: 30n,
        ttlMs: 60_000,
        facts: { surface: "chat", model: "demo" },
      };
      const lost = { walletId: env.walletId, holdId: holdIdOf("lost"), facts: FACTS, taken };
      await env.ledger.settle({ ...lost, amount: 12n });
      expect(await env.ledger.settle({ ...lost, amount: 12n })).toMatchObject({ replayed: true });
      await env.ledger.release({ ...lost, holdId: holdIdOf("freed") });
      expect(await counted()).toEqual({ day: [12n, 0n], other: [0n, 0n], total: [12n, 0n] });
      expect(await env.receipt("lost")).toMatchObject({ captured: 12n, scopes });
      expect(await env.receipt("freed")).toMatchObject({ captured: 0n, scopes });
      await env.refund("r1", "lost", 2n);
      expect(await counted()).toEqual({ day: [10n, 0n], other: [0n, 0n], total: [10n, 0n] });
    });

    test("ignores the scopes that a settlement describes when the hold is not lost", async () => {
      await setAll();
      const request = env.holdRequest("h1", 20n, { scopes });
      await env.ledger.hold(request);
      const { walletId, holdId, keyId, ttlMs, facts } = request;
      const taken = { keyId, scopes: [P2], granted: 20n, ttlMs, facts };
      await env.ledger.settle({ walletId, holdId, amount: 6n, facts: FACTS, taken });
      expect(await counted()).toEqual({ day: [6n, 0n], other: [0n, 0n], total: [6n, 0n] });
    });

    test("in the batch of the hold and its limit counts once", async () => {
      await Promise.all([
        setAll(),
        env.hold("h1", 20n, { scopes }),
        env.settle("h1", 7n),
        env.refund("r1", "h1", 1n),
        env.hold("h2", 3n, { scopes: [P2] }),
        env.charge("c1", 2n, { scopes: [P2] }),
      ]);
      const limits = await counted();
      expect([limits.other, limits.total]).toEqual([
        [2n, 3n],
        [6n, 0n],
      ]);
    });
  });
}
