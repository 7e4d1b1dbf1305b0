import { describe, expect, test } from "bun:test";
import type { Scope } from "../../../src/domain/scope.ts";
import { FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";
import { declineOf, scope, setLimit } from "./scopes.ts";

const HOUR_MS = 3_600_000;
const P1 = scope("project", "p1");
const P2 = scope("project", "p2");
const user = (id: string): Scope => scope("end_user", id);
const tag = (id: string): Scope => scope("tag", id);
const parent = (id: string): Scope => scope("parent_key", id);

/** Templates: limits with an amount for each scope of a kind. */
export function describeTemplates(env: LedgerEnv): void {
  /** The subjects of template rows, with their amounts. */
  const rows = async (scopes: readonly Scope[], keyId = "k1") =>
    (await env.limits(keyId, scopes)).map(({ limitId, subject, used, held }) => [
      limitId,
      subject,
      used,
      held,
    ]);

  describe("a template", () => {
    test("has an amount for each subject, also for one that was never seen", async () => {
      await setLimit(env, "t1", 30n, { each: "end_user", period: "day" });
      await env.hold("h1", 30n, { scopes: [user("u1")] });
      await env.hold("h2", 20n, { scopes: [user("u2")] });
      expect(await declineOf(env, "h3", 11n, { keyId: "k2", scopes: [user("u2")] })).toMatchObject({
        code: "spending_limit_exceeded",
        shortfall: { needed: 11n, available: 10n, unheld: 30n },
        limit: { limitId: "t1", scope: user("u2") },
      });
      expect((await declineOf(env, "h3", 31n, { scopes: [user("new")] })).limit).toEqual({
        limitId: "t1",
        scope: user("new"),
      });
      await env.hold("h3", 30n, { scopes: [user("new")] });
      expect(await rows([user("u1")])).toEqual([["t1", "u1", 0n, 30n]]);
      expect(await rows([user("u2")])).toEqual([["t1", "u2", 0n, 20n]]);
      expect(await rows([user("unseen")])).toEqual([["t1", "unseen", 0n, 0n]]);
    });

    test("does not bind a hold without a scope of its kind", async () => {
      await setLimit(env, "t1", 5n, { each: "end_user" });
      await env.hold("h1", 60n, { scopes: [P1, tag("u1")] });
      await env.hold("h2", 40n);
      expect(await rows([P1, tag("u1")])).toEqual([]);
      expect(await rows([])).toEqual([]);
    });

    test("grants what the tightest of several subjects has left", async () => {
      await setLimit(env, "t1", 30n, { each: "tag" });
      await env.hold("h1", 10n, { scopes: [tag("a=1")] });
      await env.hold("h2", 25n, { scopes: [tag("b=1")] });
      const both = { minimum: 0n, scopes: [tag("a=1"), tag("c=1"), tag("b=1")] };
      expect(await env.hold("h3", 50n, both)).toMatchObject({ granted: 5n });
      expect(await rows(both.scopes)).toEqual([
        ["t1", "a=1", 0n, 15n],
        ["t1", "c=1", 0n, 5n],
        ["t1", "b=1", 0n, 30n],
      ]);
      expect((await declineOf(env, "h4", 1n, { scopes: both.scopes })).limit).toEqual({
        limitId: "t1",
        scope: tag("b=1"),
      });
      await env.settle("h3", 9n);
      expect(await rows([tag("a=1"), tag("b=1")])).toEqual([
        ["t1", "a=1", 9n, 10n],
        ["t1", "b=1", 9n, 25n],
      ]);
    });

    test("names the smaller subject when two have equally little left", async () => {
      await setLimit(env, "t1", 30n, { each: "tag" });
      const scopes = [tag("b"), tag("a1"), tag("a\u{1F600}"), tag("a")];
      expect((await declineOf(env, "h1", 31n, { scopes })).limit?.scope).toEqual(tag("a"));
      await setLimit(env, "t0", 30n, { each: "project" });
      expect((await declineOf(env, "h1", 31n, { scopes: [...scopes, P1] })).limit?.limitId).toBe("t0");
    });

    test("is decided with other templates and limits", async () => {
      await setLimit(env, "users", 30n, { each: "end_user", period: "day" });
      await setLimit(env, "p1-users", 20n, { scope: P1, each: "end_user", period: "month" });
      await setLimit(env, "projects", 45n, { each: "project" });
      await setLimit(env, "p1", 40n, { scope: P1 });
      const grant = async (name: string, scopes: readonly Scope[]) =>
        (await env.hold(name, 90n, { minimum: 0n, scopes })).granted;
      expect(await grant("h1", [P1, user("u1")])).toBe(20n);
      expect(await grant("h2", [P2, user("u1")])).toBe(10n);
      expect(await grant("h3", [P1, user("u2")])).toBe(20n);
      expect((await declineOf(env, "h4", 1n, { scopes: [P1, user("u3")] })).limit?.limitId).toBe("p1");
      expect(await rows([P1, user("u2")])).toEqual([
        ["p1", undefined, 0n, 40n],
        ["p1-users", "u2", 0n, 20n],
        ["projects", "p1", 0n, 40n],
        ["users", "u2", 0n, 20n],
      ]);
      expect(await rows([P2, user("u1")])).toEqual([
        ["projects", "p2", 0n, 10n],
        ["users", "u1", 0n, 30n],
      ]);
      expect((await declineOf(env, "h4", 1n, { scopes: [P2, user("u1")] })).limit).toEqual({
        limitId: "users",
        scope: user("u1"),
      });
    });

    test("of a scope binds the subjects of its holds alone", async () => {
      await setLimit(env, "t1", 10n, { scope: P1, each: "end_user" });
      await env.hold("h1", 40n, { scopes: [P2, user("u1")] });
      await env.hold("h2", 20n, { scopes: [user("u1")] });
      expect(await env.errorCode(() => env.hold("h3", 11n, { scopes: [user("u1"), P1] }))).toBe(
        "spending_limit_exceeded",
      );
      await env.hold("h3", 10n, { scopes: [user("u1"), P1] });
    });

    test("of a key binds the subjects of its holds and of those of the keys below it", async () => {
      await env.limit("t1", 10n, { keyId: "root", each: "end_user" });
      await env.hold("h1", 6n, { keyId: "root", scopes: [user("u1")] });
      await env.hold("h2", 40n, { keyId: "other", scopes: [user("u1")] });
      const child = { keyId: "child", scopes: [parent("root"), user("u1")] };
      expect((await declineOf(env, "h3", 5n, child)).limit).toEqual({ limitId: "t1", scope: user("u1") });
      await env.hold("h3", 4n, child);
      await env.hold("h4", 10n, { keyId: "child", scopes: [parent("root"), user("u2")] });
      expect(await rows(child.scopes, "child")).toEqual([["t1", "u1", 0n, 10n]]);
      expect(await rows([user("u1")], "child")).toEqual([]);
    });

    test("of the keys counts each hold's own key", async () => {
      await setLimit(env, "t1", 20n, { each: "key" });
      await env.hold("h1", 20n, { keyId: "root" });
      await env.hold("h2", 20n, { keyId: "child", scopes: [parent("root")] });
      const decline = await declineOf(env, "h3", 1n, { keyId: "child", scopes: [parent("root")] });
      expect(decline.limit).toEqual({ limitId: "t1", scope: scope("key", "child") });
      expect(await rows([parent("root")], "child")).toEqual([["t1", "child", 0n, 20n]]);
      expect(await rows([], "unseen")).toEqual([["t1", "unseen", 0n, 0n]]);
    });

    test("of the parent keys counts each key above the hold's", async () => {
      await setLimit(env, "t1", 20n, { each: "parent_key" });
      await env.hold("h1", 20n, { keyId: "c1", scopes: [parent("middle"), parent("root")] });
      const decline = await declineOf(env, "h2", 1n, { keyId: "c2", scopes: [parent("root")] });
      expect(decline.limit).toEqual({ limitId: "t1", scope: parent("root") });
      await env.hold("h2", 60n, { keyId: "root" });
    });

    test("counts the end of a hold for its subjects, in their periods", async () => {
      await setLimit(env, "t1", 90n, { each: "end_user", period: "day" });
      const scopes = [user("u1")];
      await env.hold("h1", 20n, { ttlMs: 24 * HOUR_MS, scopes });
      await env.hold("h2", 10n, { ttlMs: 1_000, scopes });
      await env.hold("h3", 10n, { scopes });
      await env.extend("h2", 4n, { ttlMs: 1_000 });
      env.clock.nowMs += 1_000;
      await env.sweep();
      await env.settle("h2", 6n);
      await env.release("h3");
      const { receiptId } = await env.charge("c1", 5n, { scopes });
      const { walletId } = env;
      await env.ledger.refund({ walletId, refundId: "r1", holdId: receiptId, amount: 2n });
      expect(await rows(scopes)).toEqual([["t1", "u1", 9n, 20n]]);
      env.clock.nowMs = NOON_MS + 12 * HOUR_MS;
      await env.hold("h4", 7n, { holdId: holdIdOf("h4", env.clock.nowMs), scopes });
      await env.settle("h1", 15n);
      expect(await rows(scopes)).toEqual([["t1", "u1", 0n, 7n]]);
      env.clock.nowMs -= 1;
      expect(await rows(scopes)).toEqual([["t1", "u1", 24n, 0n]]);
    });

    test("counts a lost hold and a charge for subjects that were never seen", async () => {
      await setLimit(env, "t1", 90n, { each: "end_user" });
      await env.charge("c1", 7n, { scopes: [user("charged")] });
      const facts = { surface: "chat", model: "demo" };
      const taken = { keyId: "k1", scopes: [user("lost")], granted: 30n, ttlMs: 60_000, facts };
      const { walletId } = env;
      await env.ledger.settle({ walletId, holdId: holdIdOf("lost"), amount: 12n, facts: FACTS, taken });
      expect(await rows([user("charged"), user("lost")])).toEqual([
        ["t1", "charged", 7n, 0n],
        ["t1", "lost", 12n, 0n],
      ]);
    });

    test("resets every subject at midnight in its zone", async () => {
      await setLimit(env, "t1", 10n, { each: "end_user", period: "day", timeZone: "Asia/Kolkata" });
      const resetsAtMs = NOON_MS + 6.5 * HOUR_MS;
      await env.hold("h1", 10n, { scopes: [user("u1")] });
      expect(await env.limits("k1", [user("u1")])).toMatchObject([{ resetsAtMs, held: 10n }]);
      env.clock.nowMs = resetsAtMs;
      await env.hold("h2", 10n, { scopes: [user("u1")] });
    });

    test("set while holds are open counts them for their subjects, and nothing that has ended", async () => {
      await env.hold("h1", 20n, { scopes: [user("u1"), P1] });
      await env.settle("h1", 20n);
      await env.hold("h2", 15n, { scopes: [user("u1"), P1] });
      await env.hold("h3", 10n, { scopes: [user("u2"), user("u1")] });
      await env.hold("h4", 5n, { scopes: [P1] });
      await setLimit(env, "t1", 30n, { each: "end_user", period: "month" });
      await setLimit(env, "t2", 30n, { scope: P1, each: "end_user" });
      expect(await rows([user("u1"), user("u2"), P1])).toEqual([
        ["t1", "u1", 0n, 25n],
        ["t1", "u2", 0n, 10n],
        ["t2", "u1", 0n, 15n],
        ["t2", "u2", 0n, 0n],
      ]);
      await env.settle("h2", 18n);
      await env.release("h3");
      await env.refund("r1", "h1", 5n);
      await env.refund("r2", "h2", 1n);
      expect(await rows([user("u1"), user("u2"), P1])).toEqual([
        ["t1", "u1", 17n, 0n],
        ["t1", "u2", 0n, 0n],
        ["t2", "u1", 17n, 0n],
        ["t2", "u2", 0n, 0n],
      ]);
    });

    test("of another period counts the open holds for it", async () => {
      await setLimit(env, "t1", 30n, { each: "end_user", period: "day" });
      await env.hold("h1", 12n, { scopes: [user("u1")] });
      await env.hold("h2", 9n, { scopes: [user("u1")] });
      await env.settle("h2", 8n);
      await setLimit(env, "t1", 30n, { each: "end_user", period: "month" });
      expect(await rows([user("u1")])).toEqual([["t1", "u1", 0n, 12n]]);
      await env.settle("h1", 11n);
      expect(await rows([user("u1")])).toEqual([["t1", "u1", 11n, 0n]]);
      await setLimit(env, "t1", 30n, { each: "end_user", period: "day" });
      expect(await rows([user("u1")])).toEqual([["t1", "u1", 19n, 0n]]);
    });

    test("keeps the counters of its subjects when its amount changes or it is deleted and restored", async () => {
      const { ledger, walletId } = env;
      await setLimit(env, "t1", 30n, { each: "end_user" });
      await env.hold("h1", 30n, { scopes: [user("u1")] });
      await env.settle("h1", 25n);
      await setLimit(env, "t1", 26n, { each: "end_user" });
      expect(await env.errorCode(() => env.hold("h2", 2n, { scopes: [user("u1")] }))).toBe(
        "spending_limit_exceeded",
      );
      await ledger.deleteSpendLimit({ walletId, limitId: "t1" });
      expect(await rows([user("u1")])).toEqual([]);
      await env.hold("h2", 7n, { scopes: [user("u1")] });
      await env.hold("h3", 5n, { scopes: [user("u1")] });
      await env.settle("h3", 5n);
      await setLimit(env, "t1", 40n, { each: "end_user" });
      expect(await rows([user("u1")])).toEqual([["t1", "u1", 25n, 7n]]);
    });

    test("is listed once without amounts when every limit is listed", async () => {
      await setLimit(env, "t1", 30n, { each: "end_user", period: "day" });
      await setLimit(env, "t2", 30n, { scope: P1, each: "tag", period: "5h" });
      await env.hold("h1", 12n, { scopes: [user("u1"), P1, tag("a=1")] });
      const zero = { used: 0n, held: 0n };
      const limits = await env.limits();
      expect(limits).toMatchObject([
        { limitId: "t1", keyId: undefined, each: "end_user", period: "day", amount: 30n, ...zero },
        { limitId: "t2", keyId: undefined, scope: P1, each: "tag", period: "5h", amount: 30n, ...zero },
      ]);
      expect(limits.map(({ subject }) => subject)).toEqual([undefined, undefined]);
    });

    test("counts the subjects of one batch, also of holds that came before it", async () => {
      await Promise.all([
        env.hold("h1", 3n, { scopes: [user("u1")] }),
        setLimit(env, "t1", 10n, { each: "end_user" }),
        env.hold("h2", 4n, { scopes: [user("u1")] }),
        env.hold("h3", 4n, { scopes: [user("u2")] }),
        env.settle("h1", 2n),
        env.hold("h4", 4n, { scopes: [user("u1")] }),
        setLimit(env, "t1", 12n, { each: "end_user" }),
        env.charge("c1", 1n, { scopes: [user("u2")] }),
      ]);
      expect(await rows([user("u1"), user("u2")])).toEqual([
        ["t1", "u1", 2n, 8n],
        ["t1", "u2", 1n, 4n],
      ]);
    });

    test("has one counter for a subject that two processes see first at once", async () => {
      const another = await env.openAnother();
      await setLimit(env, "t1", 10n, { each: "end_user" });
      for (const subject of ["u1", "u2", "u3"]) {
        const grants = await Promise.allSettled(
          Array.from({ length: 12 }, (_, i) => {
            const request = env.holdRequest(`${subject}-${i}`, 2n, { scopes: [user(subject)] });
            return (i % 2 === 0 ? env.ledger : another).hold(request);
          }),
        );
        expect(grants.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
        expect(await rows([user(subject)])).toEqual([["t1", subject, 0n, 10n]]);
      }
    });

    test("counts hundreds of subjects that are first seen at once", async () => {
      await setLimit(env, "t1", 1n, { each: "end_user" });
      const names = Array.from({ length: 300 }, (_, i) => `u${i}`);
      const take = (round: string) =>
        Promise.allSettled(names.map((name) => env.hold(`${round}-${name}`, 0n, { scopes: [user(name)] })));
      expect((await take("first")).filter(({ status }) => status === "fulfilled")).toHaveLength(300);
      await Promise.all(names.map((name) => env.settle(`first-${name}`, 0n)));
      const settled = names.slice(0, 40).map((name) => env.charge(`c-${name}`, 1n, { scopes: [user(name)] }));
      await Promise.all(settled);
      for (const name of ["u0", "u39"]) {
        expect(await env.errorCode(() => env.hold("h", 1n, { scopes: [user(name)] }))).toBe(
          "spending_limit_exceeded",
        );
      }
      await env.hold("h", 1n, { scopes: [user("u40")] });
    });
  });
}
