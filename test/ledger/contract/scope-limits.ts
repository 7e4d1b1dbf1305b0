import { describe, expect, test } from "bun:test";
import type { SpendLimit } from "../../../src/ledger/records.ts";
import { NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";
import { scope, setLimit } from "./scopes.ts";

const P1 = scope("project", "p1");
const P2 = scope("project", "p2");
const M1 = scope("member", "m1");
const ROOT = scope("parent_key", "root");
const HOUR_MS = 3_600_000;

/** How limits of scopes are set, changed, deleted and listed. */
export function describeScopeLimits(env: LedgerEnv): void {
  const remove = (limitId: string) => env.ledger.deleteSpendLimit({ walletId: env.walletId, limitId });
  const idsOf = async (keyId: string, scopes: Parameters<LedgerEnv["limits"]>[1]) =>
    (await env.limits(keyId, scopes)).map(({ limitId }) => limitId);

  describe("a limit of a scope that is set", () => {
    test("counts what the scope has spent in its period, and its open holds", async () => {
      await env.hold("h1", 20n, { scopes: [P1] });
      await env.settle("h1", 15n);
      await env.charge("c1", 4n, { scopes: [P1] });
      await env.hold("h2", 10n, { scopes: [M1, P1] });
      await env.hold("h3", 7n, { scopes: [P2] });
      await env.hold("h4", 5n);
      await setLimit(env, "month", 20n, { scope: P1, period: "month" });
      await setLimit(env, "total", 20n, { scope: P1 });
      expect(await env.limits()).toMatchObject(Array(2).fill({ used: 19n, held: 10n }));
      await env.settle("h2", 12n);
      await env.refund("r1", "h1", 3n);
      await env.refund("r2", "h2", 1n);
      await env.settle("h3", 7n);
      expect(await env.limits()).toMatchObject(Array(2).fill({ used: 30n, held: 0n }));
      expect(await env.errorCode(() => env.hold("h5", 10n, { scopes: [P1] }))).toBe(
        "spending_limit_exceeded",
      );
    });

    test("does not count an open hold of a period before", async () => {
      await env.hold("h1", 10n, { ttlMs: 48 * HOUR_MS, scopes: [P1] });
      env.clock.nowMs = NOON_MS + 12 * HOUR_MS;
      await setLimit(env, "day", 20n, { scope: P1, period: "day" });
      await setLimit(env, "week", 20n, { scope: P1, period: "week" });
      expect(await env.limits()).toMatchObject([{ held: 0n }, { held: 10n }]);
      await env.settle("h1", 6n);
      expect(await env.limits()).toMatchObject([{ used: 0n }, { used: 6n }]);
    });

    test("counts nothing of before where it counts from now on, but the open holds", async () => {
      await env.charge("c1", 4n, { scopes: [P1] });
      await env.hold("h1", 10n, { scopes: [P1] });
      const limit = {
        walletId: env.walletId,
        limitId: "l1",
        keyId: undefined,
        scope: P1,
        amount: 20n,
      } as const;
      await env.ledger.setSpendLimit({ ...limit, period: "total", countsFromNow: true });
      expect(await env.limits()).toMatchObject([{ used: 0n, held: 10n }]);
      await env.ledger.setSpendLimit({ ...limit, period: "month" });
      expect(await env.limits()).toMatchObject([{ used: 4n, held: 10n }]);
    });

    test("counts what had any of its kind, and for the default project what had no project", async () => {
      const own = scope("project", env.walletId);
      await env.charge("c1", 1n);
      await env.charge("c2", 2n, { scopes: [scope("tag", "a=1"), scope("tag", "a=2"), P1] });
      await env.charge("c3", 4n, { scopes: [P2, own, M1] });
      await env.charge("c4", 8n, { keyId: "child", scopes: [scope("parent_key", "k1"), ROOT] });
      await env.hold("h1", 16n);
      await env.settle("h1", 16n);
      await env.refund("r1", "h1", 15n);
      const bound = [own, P1, P2, scope("tag", "a=1"), scope("tag", "a=2"), M1];
      for (const [index, each] of bound.entries()) await setLimit(env, `${index}`, 99n, { scope: each });
      await env.limit("root", 99n, { keyId: "root" });
      await env.limit("spender", 99n, { keyId: "k1" });
      await env.limit("wallet", 99n);
      const used = (await env.limits()).map((limit) => limit.used);
      expect(used).toEqual([14n, 2n, 4n, 2n, 2n, 4n, 8n, 16n, 16n]);
    });

    test("on a key counts what the keys below it have spent, and their open holds", async () => {
      await env.charge("c1", 2n, { keyId: "leaf", scopes: [scope("parent_key", "child"), ROOT] });
      await env.hold("h1", 10n, { keyId: "child", scopes: [ROOT] });
      await env.hold("h2", 8n, { keyId: "leaf", scopes: [scope("parent_key", "child"), ROOT] });
      await env.hold("h3", 6n, { keyId: "root" });
      await env.hold("h4", 5n, { keyId: "child" });
      await env.limit("root", 30n, { keyId: "root", period: "day" });
      expect(await env.limits("root")).toMatchObject([{ used: 2n, held: 24n }]);
      await env.settle("h1", 9n);
      await env.release("h2");
      expect(await env.limits("root")).toMatchObject([{ used: 11n, held: 6n }]);
    });

    test("on a key binds a key below it that has often spent without a key above", async () => {
      // By another process: the one that decides has no row of the limit before it reads one.
      const another = await env.openAnother();
      const { walletId } = env;
      await another.setSpendLimit({ walletId, limitId: "root", keyId: "root", period: "total", amount: 10n });
      for (let hold = 0; hold < 8; hold++) await env.hold(`h${hold}`, 1n, { keyId: "child", scopes: [P1] });
      expect(await env.errorCode(() => env.hold("more", 11n, { keyId: "child", scopes: [P1, ROOT] }))).toBe(
        "spending_limit_exceeded",
      );
      await env.hold("most", 10n, { keyId: "child", scopes: [ROOT] });
      expect(await env.limits("root")).toMatchObject([{ held: 10n }]);
    });

    test("with another period counts what was spent in that period", async () => {
      await setLimit(env, "l1", 50n, { scope: P1, period: "day" });
      await env.hold("h1", 10n, { scopes: [P1] });
      await env.hold("h2", 8n, { scopes: [P1] });
      await env.settle("h2", 7n);
      await setLimit(env, "l1", 50n, { scope: P1, period: "month", timeZone: "Asia/Tokyo" });
      expect(await env.limits()).toMatchObject([{ used: 7n, held: 10n }]);
      await env.settle("h1", 9n);
      expect(await env.limits()).toMatchObject([{ used: 16n, held: 0n }]);
      await setLimit(env, "l1", 50n, { scope: P1, period: "day" });
      expect(await env.limits()).toMatchObject([{ used: 16n, held: 0n }]);
    });

    test("keeps its counter when its amount changes", async () => {
      await setLimit(env, "l1", 50n, { scope: P1 });
      await env.hold("h1", 40n, { scopes: [P1] });
      await env.settle("h1", 40n);
      await setLimit(env, "l1", 39n, { scope: P1 });
      expect(await env.errorCode(() => env.hold("h2", 0n, { scopes: [P1] }))).toBe("spending_limit_exceeded");
      await setLimit(env, "l1", 45n, { scope: P1 });
      expect(await env.errorCode(() => env.hold("h2", 6n, { scopes: [P1] }))).toBe("spending_limit_exceeded");
      await env.hold("h2", 5n, { scopes: [P1] });
    });

    test("twice changes nothing", async () => {
      const limit = { scope: P1, each: "end_user", period: "5h" } as const;
      await setLimit(env, "l1", 50n, limit);
      await env.hold("h1", 5n, { scopes: [P1, scope("end_user", "u1")] });
      const before = await env.snapshot();
      await setLimit(env, "l1", 50n, limit);
      expect(await env.snapshot()).toEqual(before);
    });

    test("binds nothing while it is deleted, and is restored with what was spent meanwhile", async () => {
      await setLimit(env, "l1", 50n, { scope: P1 });
      await env.hold("h1", 40n, { scopes: [P1] });
      await remove("l1");
      expect(await env.limits("k1", [P1])).toEqual([]);
      await env.settle("h1", 38n);
      await env.hold("h2", 20n, { scopes: [P1] });
      await env.hold("h3", 9n, { scopes: [P1] });
      await env.settle("h3", 9n);
      await setLimit(env, "l1", 60n, { scope: P1 });
      expect(await env.limits()).toMatchObject([{ used: 47n, held: 20n }]);
      expect(await env.errorCode(() => env.hold("h4", 3n, { scopes: [P1] }))).toBe("spending_limit_exceeded");
    });

    test("deleted and set again in one batch of holds applies in order", async () => {
      await setLimit(env, "l1", 5n, { scope: P1 });
      const scopes = [P1];
      const declined = (name: string) => env.hold(name, 9n, { scopes }).catch((error) => error.code);
      const codes = [declined("h1"), remove("l1"), env.hold("h2", 9n, { scopes })];
      await Promise.all([...codes, setLimit(env, "l1", 20n, { scope: P1 }), env.hold("h3", 9n, { scopes })]);
      expect(await codes[0]).toBe("spending_limit_exceeded");
      expect(await declined("h4")).toBe("spending_limit_exceeded");
      expect(await env.limits()).toMatchObject([{ amount: 20n, held: 18n }]);
    });

    type Binding = Pick<SpendLimit, "keyId" | "scope" | "each">;
    const bindings: readonly Binding[] = [
      { keyId: undefined },
      { keyId: "p1" },
      { keyId: undefined, scope: P1 },
      { keyId: undefined, scope: P2 },
      { keyId: undefined, scope: scope("run", "p1") },
      { keyId: undefined, each: "end_user" },
      { keyId: undefined, each: "key" },
      { keyId: "p1", each: "end_user" },
      { keyId: undefined, scope: P1, each: "end_user" },
      { keyId: undefined, scope: P1, each: "tag" },
    ];
    test("under an id that binds, or has bound, anything else is a conflict", async () => {
      for (const [index, binding] of bindings.entries()) {
        await env.limit(`l${index}`, 5n, binding);
        const others = bindings.filter((other) => other !== binding);
        const commands = others.map((other) => () => env.limit(`l${index}`, 5n, other));
        expect(new Set(await env.errorCodes(commands))).toEqual(new Set(["conflict"]));
        await remove(`l${index}`);
        expect(new Set(await env.errorCodes(commands))).toEqual(new Set(["conflict"]));
        await env.limit(`l${index}`, 6n, binding);
      }
      expect(await env.limits()).toMatchObject(bindings.map((binding) => ({ ...binding, amount: 6n })));
    });
  });

  describe("the limits that bind holds", () => {
    test("are those of the key, its parents, its scopes and the wallet, sorted by id", async () => {
      await env.limit("1-key", 50n);
      await env.limit("2-other-key", 50n, { keyId: "k2" });
      await env.limit("3-root", 50n, { keyId: "root" });
      await setLimit(env, "4-wallet", 50n, { period: "day" });
      await setLimit(env, "5-p1", 50n, { scope: P1, period: "month", timeZone: "Asia/Tokyo" });
      await setLimit(env, "6-p2", 50n, { scope: P2 });
      await setLimit(env, "7-members", 50n, { each: "member" });
      await setLimit(env, "8-p1-members", 50n, { scope: P1, each: "member" });
      await setLimit(env, "9-keys", 50n, { each: "key" });
      expect(await idsOf("k1", undefined)).toEqual(["1-key", "4-wallet", "9-keys"]);
      expect(await idsOf("k1", [ROOT])).toEqual(["1-key", "3-root", "4-wallet", "9-keys"]);
      expect(await idsOf("k3", [P1])).toEqual(["4-wallet", "5-p1", "9-keys"]);
      expect(await idsOf("k2", [M1, P2])).toEqual(["2-other-key", "4-wallet", "6-p2", "7-members", "9-keys"]);
      expect(await idsOf("k3", [P1, M1])).toEqual([
        "4-wallet",
        "5-p1",
        "7-members",
        "8-p1-members",
        "9-keys",
      ]);
      expect(await env.limits()).toHaveLength(9);
    });

    test("have what they bind, their amounts and, of a template, the subject", async () => {
      const { walletId } = env;
      await setLimit(env, "a", 50n, { scope: P1, period: "day" });
      await setLimit(env, "b", 60n, { scope: P1, each: "member", period: "5h" });
      await env.hold("h1", 20n, { scopes: [P1, M1] });
      await env.settle("h1", 12n);
      await env.hold("h2", 3n, { scopes: [P1, M1] });
      const both = { walletId, keyId: undefined, scope: P1, used: 12n, held: 3n };
      const resetsAtMs = NOON_MS + 5 * HOUR_MS;
      expect(await env.limits("k9", [M1, P1])).toEqual([
        { ...both, limitId: "a", amount: 50n, period: "day", resetsAtMs: NOON_MS + 12 * HOUR_MS },
        { ...both, limitId: "b", amount: 60n, period: "5h", each: "member", subject: "m1", resetsAtMs },
      ]);
    });

    test("do not include those of another wallet", async () => {
      const other = `${env.walletId}-other`;
      await env.ledger.createWallet(other);
      await setLimit(env, "l1", 50n, { scope: P1 });
      expect(await env.ledger.spendLimits(other, "k1", [P1])).toEqual([]);
    });
  });
}
