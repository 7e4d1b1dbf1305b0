import { describe, expect, test } from "bun:test";
import type { Scope } from "../../../src/domain/scope.ts";
import type { SpendLimit } from "../../../src/ledger/records.ts";
import { FACTS, holdIdOf } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";
import { scope, setLimit } from "./scopes.ts";

const P1 = scope("project", "p1");
const P2 = scope("project", "p2");
const M1 = scope("member", "m1");
const R1 = scope("run", "r1");

/** The scopes of commands and receipts: stored, repeated and invalid. */
export function describeScopeInput(env: LedgerEnv): void {
  describe("a receipt", () => {
    test("has the scopes of its hold or charge in their order", async () => {
      const scopes = [R1, P1, scope("tag", "b=2"), scope("tag", "a=1"), M1];
      await env.hold("h1", 5n, { scopes });
      const { receiptId } = await env.charge("c1", 5n, { scopes });
      await env.hold("h2", 5n);
      await env.hold("h3", 5n, { scopes: [] });
      expect(await env.receipt("h1")).toMatchObject({ state: "held", scopes });
      await env.settle("h1", 5n);
      expect(await env.receipt("h1")).toMatchObject({ state: "settled", scopes });
      expect(await env.ledger.receipt(env.walletId, receiptId)).toMatchObject({ scopes });
      expect(await env.receipt("h2")).toMatchObject({ scopes: [] });
      expect(await env.receipt("h3")).toMatchObject({ scopes: [] });
      const { items } = await env.ledger.receipts({ walletId: env.walletId }, { size: 9 });
      expect(items.map((each) => each.scopes.length).toSorted()).toEqual([0, 0, 5, 5]);
    });
  });

  describe("a repeated command with scopes", () => {
    test("returns the first result, also after the hold has ended", async () => {
      await setLimit(env, "l1", 50n, { scope: P1 });
      const asked = { minimum: 0n, scopes: [P1, M1] };
      expect(await env.hold("h1", 60n, asked)).toMatchObject({ granted: 50n, replayed: false });
      expect(await env.hold("h1", 60n, asked)).toMatchObject({ granted: 50n, replayed: true });
      await env.settle("h1", 45n);
      expect(await env.hold("h1", 60n, asked)).toMatchObject({ granted: 50n, replayed: true });
      await env.charge("c1", 5n, { scopes: [P1] });
      expect(await env.charge("c1", 5n, { scopes: [P1] })).toMatchObject({ replayed: true });
      expect(await env.limits()).toMatchObject([{ used: 50n, held: 0n }]);
    });

    test.each<[string, readonly Scope[] | undefined]>([
      ["none", undefined],
      ["fewer", [P1]],
      ["more", [P1, M1, R1]],
      ["another kind", [scope("run", "p1"), M1]],
      ["another id", [P2, M1]],
    ])("conflicts with %s", async (_, scopes) => {
      await env.hold("h1", 5n, { scopes: [P1, M1] });
      expect(await env.errorCode(() => env.hold("h1", 5n, { scopes }))).toBe("conflict");
      await env.settle("h1", 1n);
      expect(await env.errorCode(() => env.hold("h1", 5n, { scopes }))).toBe("conflict");
    });

    test("without scopes conflicts with some, and equals one with an empty list", async () => {
      await env.hold("h1", 5n);
      expect(await env.errorCode(() => env.hold("h1", 5n, { scopes: [P1] }))).toBe("conflict");
      expect(await env.hold("h1", 5n, { scopes: [] })).toMatchObject({ replayed: true });
    });
  });

  describe("an invalid scope", () => {
    const many = Array.from({ length: 17 }, (_, i) => scope("tag", `n=${i}`));
    test.each<[string, readonly Scope[]]>([
      ["of the kind key", [scope("key", "k1")]],
      ["that is repeated", [P1, M1, P1]],
      ["beside 16 others", many],
      ["with an empty id", [scope("run", "")]],
      ["with an id of 257 characters", [scope("end_user", "x".repeat(257))]],
      ["with an id of 129 characters outside the first plane", [scope("end_user", "😀".repeat(129))]],
      ["with an id of 100,000 characters", [scope("end_user", "x".repeat(100_000))]],
      ["with a line break in its id", [scope("end_user", "a\nb")]],
      ["with a NUL in its id", [scope("end_user", "\0")]],
      ["with a control character of the second set", [scope("end_user", "\u0085")]],
      ["with a lone surrogate", [scope("end_user", "a\ud800")]],
      ["of an unknown kind", [P1, { kind: "team" as never, id: "t1" }]],
    ])("%s is declined by every command that takes scopes", async (_, scopes) => {
      const { ledger, walletId } = env;
      const facts = { surface: "chat", model: "demo" };
      const taken = { keyId: "k1", scopes, granted: 5n, ttlMs: 60_000, facts };
      const ended = { walletId, holdId: holdIdOf("lost"), facts: FACTS, taken };
      const commands = [
        () => env.hold("h1", 5n, { scopes }),
        () => env.charge("c1", 5n, { scopes }),
        () => ledger.settle({ ...ended, amount: 1n }),
        () => ledger.release(ended),
      ];
      expect(await env.errorCodes(commands)).toEqual(Array(4).fill("invalid_scope"));
    });

    test("is none of 16 scopes with ids of 256 characters", async () => {
      const ids = [
        "x".repeat(256),
        "😀".repeat(128),
        "'; DROP TABLE holds; --",
        "__proto__",
        " ",
        "\\",
        "a\u2028b",
      ];
      const scopes = Array.from({ length: 16 }, (_, i) => scope("tag", `${ids[i % 7]?.slice(0, 254)}${i}`));
      await setLimit(env, "t1", 50n, { each: "tag" });
      await Promise.all(scopes.map((each, i) => setLimit(env, `l${i}`, 50n, { scope: each })));
      await env.hold("h1", 5n, { scopes });
      expect(await env.receipt("h1")).toMatchObject({ scopes });
      const limits = await env.limits("k1", scopes);
      expect(limits).toHaveLength(32);
      expect(limits.every(({ held }) => held === 5n)).toBe(true);
    });

    test.each<[string, Partial<SpendLimit>]>([
      ["of a limit with a key", { keyId: "k1", scope: P1 }],
      ["of the kind key", { scope: scope("key", "k1") }],
      ["of the kind parent_key", { scope: scope("parent_key", "k1") }],
      ["with an empty id", { scope: scope("project", "") }],
      ["with an id of 257 characters", { scope: scope("project", "x".repeat(257)) }],
      ["with a line break in its id", { scope: scope("project", "a\nb") }],
      ["of an unknown kind", { scope: { kind: "team" as never, id: "t1" } }],
      ["of a template of an unknown kind", { each: "team" as never }],
    ])("%s is declined by setSpendLimit", async (_, changes) =>
      expect(await env.errorCode(() => setLimit(env, "l1", 5n, changes))).toBe("invalid_scope"),
    );
  });
}
