import { describe, expect, test } from "bun:test";
import { createEndUserHash } from "../../src/accounts/attribution/end-user-names.ts";
import { forgetEndUser as forgetEverywhere } from "../../src/accounts/attribution/forget.ts";
import { COMMAND_LINE, listAuditEntries } from "../../src/accounts/audit-trail.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { auditDatabase } from "../../src/ledger/audit/audit.ts";
import { forgetEndUser } from "../../src/ledger/end-users.ts";
import { sweepForgotten } from "../../src/ledger/forgotten-names.ts";
import { withForgottenNames } from "../../src/ledger/lost-holds.ts";
import { createPostgresRollUpStore } from "../../src/ledger/postgres/roll-up-store.ts";
import { createRunQuery } from "../../src/ledger/postgres/run-query.ts";
import type { SpendLimit } from "../../src/ledger/records.ts";
import { rollUpOnce } from "../../src/ledger/roll-ups/job.ts";
import type { RollUpStore } from "../../src/ledger/roll-ups/store.ts";
import { createInlineReader } from "../../src/ledger/sqlite/reads.ts";
import { createSqliteRollUpStore } from "../../src/ledger/sqlite/roll-up-store.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";
import { openInlineScratch } from "./inline-scratch.ts";

const DAY_MS = 86_400_000;
const FACTS = { surface: "chat", model: "m" };
const OUTCOME = { outcome: "ok", source: "reported", attempts: [] } as const;

describe.each(DIALECTS)("an end user in %s", (dialect) => {
  const storage = storageForTests(dialect);

  async function newWallet(): Promise<string> {
    const { id } = await storage.newAccount();
    await storage.ledger.topUp({ walletId: id, topUpId: "t", amount: 1_000_000n });
    const limit = (own: Omit<SpendLimit, "walletId" | "keyId" | "amount">) =>
      storage.ledger.setSpendLimit({ walletId: id, keyId: undefined, amount: 500_000n, ...own });
    await limit({ limitId: "users", each: "end_user", period: "month" });
    await limit({ limitId: "window", each: "end_user", period: "5h" });
    await limit({ limitId: "tags", each: "tag", period: "total" });
    await limit({ limitId: "all", period: "day" });
    return id;
  }
  function hold(walletId: string, ...scopes: readonly Scope[]) {
    const holdId = Bun.randomUUIDv7("hex", storage.clock.nowMs);
    const request = {
      walletId,
      holdId,
      keyId: "k",
      amount: 100n,
      minimum: 100n,
      ttlMs: 60_000,
      facts: FACTS,
    };
    return storage.ledger.hold({ ...request, scopes }).then(() => holdId);
  }
  async function spend(walletId: string, amount: bigint, ...scopes: readonly Scope[]): Promise<string> {
    const holdId = await hold(walletId, ...scopes);
    await storage.ledger.settle({ walletId, holdId, amount, facts: OUTCOME });
    return holdId;
  }
  const user = (id: string): Scope => ({ kind: "end_user", id });
  const forget = (walletId: string, endUser: string, pseudonym = "deleted-1") =>
    forgetEndUser(storage, { walletId, endUser, pseudonym });
  async function usedOf(walletId: string, ...scopes: readonly Scope[]) {
    const limits = await storage.ledger.spendLimits(walletId, "k", scopes);
    return Object.fromEntries(limits.map(({ limitId, used }) => [limitId, used]));
  }
  async function expectConsistent(): Promise<void> {
    const { findings } = await auditDatabase(storage.database, storage.clock.nowMs);
    expect(findings).toEqual([]);
  }

  test("that is forgotten is a pseudonym on receipts and in counters, and the sums stay", async () => {
    const walletId = await newWallet();
    const tag: Scope = { kind: "tag", id: "alice" };
    const own = await spend(walletId, 30n, user("alice"), tag);
    await spend(walletId, 12n, user("alice"));
    const other = await spend(walletId, 7n, user("bob"));
    expect(await forget(walletId, "alice")).toEqual({ receipts: 2, running: 0 });
    const scopesOf = async (id: string) => (await storage.ledger.receipt(walletId, id))?.scopes;
    expect(await scopesOf(own)).toEqual([user("deleted-1"), tag]);
    expect(await scopesOf(other)).toEqual([user("bob")]);
    expect(await usedOf(walletId, user("deleted-1"))).toEqual({ users: 42n, window: 42n, all: 49n });
    expect(await usedOf(walletId, user("alice"))).toEqual({ users: 0n, window: 0n, all: 49n });
    expect(await usedOf(walletId, tag)).toEqual({ tags: 30n, all: 49n });
    expect(await usedOf(walletId, user("bob"))).toEqual({ users: 7n, window: 7n, all: 49n });
    await expectConsistent();
    const alices = { walletId, scopes: [user("alice")] };
    expect((await storage.ledger.receipts(alices, { size: 10 })).items).toEqual([]);
  });

  test("has later refunds booked under the pseudonym", async () => {
    const walletId = await newWallet();
    const holdId = await spend(walletId, 30n, user("alice"));
    await forget(walletId, "alice");
    await storage.ledger.refund({ walletId, refundId: "r", holdId, amount: 10n });
    expect((await usedOf(walletId, user("deleted-1"))).users).toBe(20n);
    await expectConsistent();
  });

  test("with running requests keeps the name on these until the next time", async () => {
    const walletId = await newWallet();
    await spend(walletId, 30n, user("alice"));
    const running = await hold(walletId, user("alice"));
    expect(await forget(walletId, "alice")).toEqual({ receipts: 1, running: 1 });
    await expectConsistent();
    await storage.ledger.settle({ walletId, holdId: running, amount: 5n, facts: OUTCOME });
    expect((await usedOf(walletId, user("alice"))).users).toBe(5n);
    expect(await forget(walletId, "alice", "deleted-2")).toEqual({ receipts: 1, running: 0 });
    expect((await usedOf(walletId, user("deleted-2"))).users).toBe(5n);
    expect((await usedOf(walletId, user("deleted-1"))).users).toBe(30n);
    await expectConsistent();
  });

  describe("whose settlement waits in an outbox for a hold that the ledger lost", () => {
    function settleLost(
      walletId: string,
      holdId: string,
      ledger = withForgottenNames(storage.database, storage.ledger),
    ) {
      const taken = { keyId: "k", scopes: [user("alice")], granted: 100n, ttlMs: 60_000, facts: FACTS };
      return ledger.settle({ walletId, holdId, amount: 30n, facts: OUTCOME, taken });
    }
    const newId = () => Bun.randomUUIDv7("hex", storage.clock.nowMs);
    const scopesOf = async (walletId: string, id: string) =>
      (await storage.ledger.receipt(walletId, id))?.scopes;

    test("stays forgotten, and the pseudonym counts the receipt", async () => {
      const walletId = await newWallet();
      const lost = newId();
      await forget(walletId, "alice");
      await settleLost(walletId, lost);
      expect(await scopesOf(walletId, lost)).toEqual([user("deleted-1")]);
      expect(await usedOf(walletId, user("deleted-1"))).toMatchObject({ users: 30n, window: 30n });
      expect(await usedOf(walletId, user("alice"))).toMatchObject({ users: 0n, window: 0n });
      await settleLost(walletId, lost);
      await expectConsistent();
    });

    test("stays forgotten when the name was forgotten while the settlement was booked", async () => {
      const walletId = await newWallet();
      const lost = newId();
      const { ledger } = storage;
      const settle: typeof ledger.settle = async (...args) => {
        const settled = await ledger.settle(...args);
        await forget(walletId, "alice");
        return settled;
      };
      await settleLost(walletId, lost, withForgottenNames(storage.database, { ...ledger, settle }));
      expect(await scopesOf(walletId, lost)).toEqual([user("deleted-1")]);
      expect(await usedOf(walletId, user("deleted-1"))).toMatchObject({ users: 30n, window: 30n });
      await expectConsistent();
    });

    test("is named again when the request came after the name was forgotten", async () => {
      const walletId = await newWallet();
      await forget(walletId, "alice");
      storage.clock.nowMs += 120_000;
      const lost = newId();
      await settleLost(walletId, lost);
      expect(await scopesOf(walletId, lost)).toEqual([user("alice")]);
      await expectConsistent();
    });

    test("is no longer remembered after two days", async () => {
      const walletId = await newWallet();
      await forget(walletId, "alice");
      const remembered = async () => {
        const { database } = storage;
        const sql = "SELECT * FROM forgotten_names";
        if (database.dialect === "postgres") return [...(await database.postgres.client.unsafe(sql))];
        return database.sqlite.client.query(sql).all();
      };
      expect(Bun.inspect(await remembered())).not.toContain("alice");
      storage.clock.nowMs += 2 * 86_400_000;
      await sweepForgotten(storage.database, storage.clock.nowMs);
      expect(await remembered()).toHaveLength(1);
      await sweepForgotten(storage.database, storage.clock.nowMs + 1);
      expect(await remembered()).toEqual([]);
    });
  });

  test("of one wallet is none of another", async () => {
    const [one, other] = [await newWallet(), await newWallet()];
    await spend(one, 30n, user("alice"));
    await spend(other, 12n, user("alice"));
    await forget(one, "alice");
    expect((await usedOf(other, user("alice"))).users).toBe(12n);
    await expectConsistent();
  });

  test("with more receipts than one transaction renames is forgotten whole, while others spend", async () => {
    const walletId = await newWallet();
    for (let at = 0; at < 250; at += 1) await spend(walletId, 1n, user("alice"));
    const spending = Array.from({ length: 50 }, () => spend(walletId, 1n, user("bob")));
    const [forgotten] = await Promise.all([forget(walletId, "alice"), ...spending]);
    expect(forgotten).toEqual({ receipts: 250, running: 0 });
    expect(await usedOf(walletId, user("deleted-1"))).toMatchObject({ users: 250n, window: 250n });
    expect(await usedOf(walletId, user("bob"))).toMatchObject({ users: 50n, all: 300n });
    await expectConsistent();
  });

  test("with a limit of its own by name is forgotten at once, or not while a request runs", async () => {
    const walletId = await newWallet();
    const named = { walletId, keyId: undefined, scope: user("alice"), period: "total" } as const;
    await storage.ledger.setSpendLimit({ ...named, limitId: "alice's", amount: 900n });
    await spend(walletId, 30n, user("alice"));
    const holdId = await hold(walletId, user("alice"));
    await expect(forget(walletId, "alice")).rejects.toMatchObject({ code: "conflict" });
    await expectConsistent();
    await storage.ledger.settle({ walletId, holdId, amount: 5n, facts: OUTCOME });
    expect(await forget(walletId, "alice")).toEqual({ receipts: 2, running: 0 });
    expect(await usedOf(walletId, user("deleted-1"))).toMatchObject({ users: 35n, "alice's": 35n });
    expect(await usedOf(walletId, user("alice"))).toEqual({ users: 0n, window: 0n, all: 35n });
    await expectConsistent();
  });

  test("is forgotten by name and by hash, with an audit entry that has neither", async () => {
    const walletId = await newWallet();
    const hash = await createEndUserHash(storage.database)(walletId, "alice");
    await spend(walletId, 1n, user("alice"));
    await spend(walletId, 2n, user(hash));
    const done = await forgetEverywhere(
      { database: storage.database, now: storage.now, forget: (each) => forgetEndUser(storage, each) },
      COMMAND_LINE,
      { accountId: walletId, endUser: "alice" },
    );
    expect(done).toMatchObject({
      receipts: 2,
      running: 0,
      pseudonym: expect.stringMatching(/^deleted-\w{16}$/),
    });
    const page = { size: 10, after: undefined };
    const entries = await listAuditEntries(storage.database, { accountId: walletId }, page);
    expect(JSON.stringify(entries)).not.toContain("alice");
    expect(entries[0]).toMatchObject({ action: "end_user.forgotten", target: done.pseudonym });
    await expectConsistent();
  });

  test("that is forgotten is a pseudonym in usage by scope, also where receipts are gone", async () => {
    const walletId = await newWallet();
    for (const users of [["alice", "bob"], ["alice", "hash of alice"], ["alice"]]) {
      for (const name of users) await spend(walletId, 10n, user(name));
      storage.clock.nowMs += DAY_MS;
      while (await storage.ledger.rollUp());
    }
    storage.clock.nowMs += DAY_MS / 2;
    while (await storage.ledger.rollUp());
    while ((await storage.ledger.retain({ receiptsDays: 2 })).isMore);
    expect((await storage.ledger.receipts({ walletId }, { size: 10 })).items).toHaveLength(1);
    await forget(walletId, "alice");
    await forget(walletId, "hash of alice");
    const rows = await readScopeDays(walletId);
    expect(rows).toEqual([
      ["2026-06-01", "bob", 1, 10],
      ["2026-06-01", "deleted-1", 1, 10],
      ["2026-06-02", "deleted-1", 2, 20],
      ["2026-06-03", "deleted-1", 1, 10],
    ]);
    await expectConsistent();
    while (await storage.ledger.rollUp());
    expect(await readScopeDays(walletId)).toEqual(rows);
  });

  test("that is forgotten while its day is summed up is a pseudonym there afterwards", async () => {
    const walletId = await newWallet();
    await spend(walletId, 10n, user("alice"));
    storage.clock.nowMs += 2 * DAY_MS;
    const rollUps = openRollUps();
    let isForgotten = false;
    const store: RollUpStore = {
      ...rollUps,
      async write(change) {
        if (change.scopeGroups && !isForgotten) {
          isForgotten = true;
          await forget(walletId, "alice");
        }
        return rollUps.write(change);
      },
    };
    for (let step = 0; step < 50; step++) await rollUpOnce(store);
    expect(isForgotten).toBe(true);
    expect(await readScopeDays(walletId)).toEqual([["2026-06-01", "deleted-1", 1, 10]]);
    await expectConsistent();
  });

  function openRollUps(): RollUpStore {
    const { database, now } = storage;
    if (database.dialect === "postgres") {
      const { client } = database.postgres;
      return createPostgresRollUpStore({ client, run: createRunQuery(client), now });
    }
    const { client, path } = database.sqlite;
    const run = createInlineReader(client);
    const openScratch = () => openInlineScratch(path);
    return createSqliteRollUpStore({ client, run, runShort: run, openScratch, now, forgetFence() {} });
  }

  /** Day, id, requests and charges of the end users of a wallet. */
  async function readScopeDays(walletId: string) {
    const sql = `SELECT start_ms, scope_id, requests, captured_low FROM usage_scope_days
      WHERE wallet_id = '${walletId}' AND kind = 'end_user' ORDER BY start_ms, scope_id`;
    const rows = await openRollUps().run({ sql, values: [] });
    return rows.map(({ start_ms, scope_id, requests, captured_low }) => [
      new Date(Number(start_ms)).toISOString().slice(0, 10),
      scope_id,
      ...[requests, captured_low].map(Number),
    ]);
  }
});
