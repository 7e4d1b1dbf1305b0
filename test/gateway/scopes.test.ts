import { describe, expect, test } from "bun:test";
import type { Caller } from "../../src/accounts/keys/key.ts";
import type { Nanos } from "../../src/domain/money.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { createDeclineMemory, declineHeaders, declineOf, shortageOf } from "../../src/gateway/decline.ts";
import { createRuns } from "../../src/gateway/runs.ts";
import { keyScopes, readAttribution, scopesOf } from "../../src/gateway/scopes.ts";
import { LedgerError } from "../../src/ledger/ledger.ts";
import type { SpendLimit, SpendLimitUsage } from "../../src/ledger/records.ts";
import { TEST_CALLER } from "./held-request.ts";

const { key: KEY } = TEST_CALLER;

describe("the scopes of a key", () => {
  const scopes = (key: Partial<typeof KEY>, hasScopes: boolean, memberId?: string) =>
    keyScopes({ ...TEST_CALLER, key: { ...KEY, ...key }, hasScopes, memberId })?.map(
      ({ kind, id }) => `${kind} ${id}`,
    );

  test("are none in an account without projects and limits of them", () => {
    expect(scopes({}, false, "person")).toBeUndefined();
  });

  test("are its project and its member in any other", () => {
    expect(scopes({}, true, "person")).toEqual(["project acme", "member person"]);
    expect(scopes({ projectId: "p" }, true)).toEqual(["project p"]);
  });

  test("are the keys above it in every account", () => {
    expect(scopes({ parentIds: ["mother", "root"] }, false)).toEqual([
      "parent_key mother",
      "parent_key root",
    ]);
  });
});

describe("the scopes of a request", () => {
  /** Parts that must not be asked. */
  const NO_PARTS = {
    attribution: {
      hashEndUser: () => Promise.reject(new Error("not asked")),
      countTagValue: () => Promise.reject(new Error("not asked")),
    },
    runs: { begin: () => Promise.reject(new Error("not asked")) },
  };
  const of = (caller: Caller, endUser?: string) =>
    scopesOf(NO_PARTS, caller, readAttribution({ call: {}, caller, request: { endUser } }));

  test("that names nobody are those of its key, unchanged", () => {
    const caller = { ...TEST_CALLER, hasScopes: true };
    expect(of(TEST_CALLER)).toBeUndefined();
    expect(of(caller)).toEqual([{ kind: "project", id: "acme" }]);
    expect(of(caller)).toBe(of(caller));
  });

  test("that names an end user in its body are known at once", () => {
    const alice = { kind: "end_user", id: "alice" } as const;
    expect(of(TEST_CALLER, "alice")).toEqual([alice]);
    const scopes = [{ kind: "project", id: "acme" } as const, alice];
    expect(of({ ...TEST_CALLER, hasScopes: true }, "alice")).toEqual(scopes);
  });

  test("of an account that keeps no end users have none", () => {
    expect(of({ ...TEST_CALLER, endUsers: "off" }, "alice")).toBeUndefined();
  });
});

describe("runs", () => {
  /** A ledger that keeps limits, and counts how often it was asked. */
  function createLedger(faults = 0) {
    const limits = new Map<string, SpendLimit>();
    const asked = { reads: 0, sets: 0 };
    return {
      asked,
      limits,
      async spendLimits() {
        asked.reads += 1;
        return [...limits.values()].map((limit) => ({ ...limit, used: 0n, held: 0n, resetsAtMs: undefined }));
      },
      async setSpendLimit(limit: SpendLimit) {
        asked.sets += 1;
        if (asked.sets <= faults) throw new LedgerError("unavailable");
        limits.set(limit.limitId, limit);
      },
    };
  }
  const store = async ({ amount }: { amount: Nanos }) => ({ limitId: "run:k:r", amount });

  test("set one limit for all requests that begin a run together, and ask no more afterwards", async () => {
    const ledger = createLedger();
    const runs = createRuns({ ledger, store });
    await Promise.all(Array.from({ length: 50 }, () => runs.begin(KEY, "r", 5n)));
    expect(ledger.asked).toEqual({ reads: 1, sets: 1 });
    expect(runs.begin(KEY, "r", 9n)).toBeUndefined();
    expect(ledger.limits.get("run:k:r")?.amount).toBe(5n);
  });

  test("keep a limit that the ledger has", async () => {
    const ledger = createLedger();
    await createRuns({ ledger, store }).begin(KEY, "r", 5n);
    await createRuns({ ledger, store }).begin(KEY, "r", 9n);
    expect(ledger.asked.sets).toBe(1);
  });

  test("whose limit could not be set are tried again by the next request", async () => {
    const ledger = createLedger(1);
    const runs = createRuns({ ledger, store });
    await expect(runs.begin(KEY, "r", 5n) ?? Promise.resolve()).rejects.toMatchObject({
      code: "unavailable",
    });
    await runs.begin(KEY, "r", 5n);
    expect(ledger.limits.get("run:k:r")?.amount).toBe(5n);
  });

  test("are stored again on the next day, so that they are known to be used", async () => {
    const ledger = createLedger();
    let stored = 0;
    let nowMs = Date.UTC(2026, 0, 1);
    const runs = createRuns({
      ledger,
      store: (run) => {
        stored += 1;
        return store(run);
      },
      now: () => nowMs,
    });
    await runs.begin(KEY, "r", 5n);
    await runs.begin(KEY, "r", 5n);
    nowMs += 86_400_000;
    await runs.begin(KEY, "r", 5n);
    expect({ stored, ...ledger.asked }).toEqual({ stored: 2, reads: 2, sets: 1 });
  });

  test("above the bound of a day are refused", async () => {
    const runs = createRuns({ ledger: createLedger(), store: async () => undefined });
    await expect(runs.begin(KEY, "r", 5n) ?? Promise.resolve()).rejects.toMatchObject({
      kind: "too_many_runs",
    });
  });
});

describe("declines", () => {
  const shortfall = { needed: 10n, available: 4n, unheld: 8n };
  const alice: Scope = { kind: "end_user", id: "alice" };
  const run: Scope = { kind: "run", id: "k:r" };
  const project: Scope = { kind: "project", id: "p" };
  const decline = (scope: Scope | undefined) =>
    declineOf(
      new LedgerError("spending_limit_exceeded", undefined, shortfall, { limitId: "l", scope }),
    ) as NonNullable<ReturnType<typeof declineOf>>;
  const as = (...scopes: readonly Scope[]) => ({ accountId: "a", keyId: "k", scopes });

  function remembering(scope: Scope | undefined, ...of: readonly Scope[]) {
    const memory = createDeclineMemory(() => 0);
    for (let times = 0; times < 3; times += 1) memory.note(as(...of), decline(scope));
    return memory;
  }

  test("of an end user are remembered for requests of that end user alone", () => {
    const memory = remembering(alice, project, alice, run);
    expect(memory.recall(as(project, alice), 10n)).toEqual(decline(alice));
    expect(memory.recall(as({ kind: "end_user", id: "bob" }, run), 10n)).toBeUndefined();
    expect(memory.recall(as(), 10n)).toBeUndefined();
    expect(memory.recall({ accountId: "a", keyId: "other", scopes: [alice] }, 10n)).toBeUndefined();
  });

  test("of a project, a key or an account are remembered for every request of the key", () => {
    for (const scope of [project, { kind: "key", id: "k" } as const, undefined]) {
      expect(remembering(scope, project, alice).recall(as(project, run), 10n)).toEqual(decline(scope));
    }
  });

  test("whose limit an older ledger does not name are remembered for equal requests alone", () => {
    const memory = createDeclineMemory(() => 0);
    const unnamed = { reason: "spending_limit_exceeded", shortfall } as const;
    for (let times = 0; times < 3; times += 1) memory.note(as(alice, run), unnamed);
    expect(memory.recall(as(alice, run), 10n)).toMatchObject(unnamed);
    expect(memory.recall(as(alice), 10n)).toBeUndefined();
    expect(memory.recall(as(), 10n)).toBeUndefined();
  });

  test("name no key but the caller's by its name", () => {
    const limitOf = (scope: Scope | undefined) =>
      declineHeaders(decline(scope), TEST_CALLER)["x-tollgate-limit"];
    expect(limitOf({ kind: "key", id: "k" })).toBe("key k");
    expect(limitOf({ kind: "key", id: "root" })).toBe("parent_key root");
    expect(limitOf({ kind: "project", id: "p" })).toBe("project p");
    expect(limitOf(run)).toBe("run r");
    expect(limitOf({ kind: "tag", id: "feature=a\r\nb" })).toBe("tag feature=a%0D%0Ab");
    expect(limitOf(undefined)).toBe("account");
  });

  test("before a hold are those of the limit with the least left, as the ledger decides", () => {
    const limit = (limitId: string, left: bigint, more: Partial<SpendLimitUsage> = {}): SpendLimitUsage => ({
      ...{ walletId: "acme", limitId, keyId: undefined, period: "total", amount: 100n, held: 0n },
      ...{ used: 100n - left, resetsAtMs: undefined, ...more },
    });
    const wallet = { posted: 1_000n, held: 0n, available: 1_000n };
    const limits = [
      limit("a", 7n, { keyId: "k" }),
      limit("c", 3n, { each: "end_user", subject: "bob" }),
      limit("b", 3n, { held: 1n, amount: 101n, scope: run }),
    ];
    expect(shortageOf({ wallet, limits }, 5n)).toEqual({
      reason: "spending_limit_exceeded",
      shortfall: { needed: 5n, available: 3n, unheld: 3n },
      limit: { limitId: "b", scope: run },
    });
    expect(shortageOf({ wallet, limits }, 3n)).toBeUndefined();
    expect(shortageOf({ wallet, limits: limits.slice(0, 2) }, 5n)?.limit).toEqual({
      limitId: "c",
      scope: { kind: "end_user", id: "bob" },
    });
  });
});
