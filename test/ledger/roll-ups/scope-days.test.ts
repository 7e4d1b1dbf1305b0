import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { OTHER } from "../../../src/db/usage-columns.ts";
import type { Scope } from "../../../src/domain/scope.ts";
import { readCursor } from "../../../src/ledger/queries/coverage.ts";
import { rollUpOnce } from "../../../src/ledger/roll-ups/job.ts";
import type { RollUpStore } from "../../../src/ledger/roll-ups/store.ts";
import { until } from "../../support/until.ts";
import type { LedgerUnderTest, OpenLedger } from "../contract/env.ts";
import { openOnPostgres } from "../contract/postgres.ts";
import { openOnSqlite } from "../contract/sqlite.ts";
import { FACTS, holdIdOf } from "../samples.ts";
import { HOUR_MS, openRivals } from "./history.ts";
import { plainScopes, readScopeDays } from "./plain-scopes.ts";

const DAY_MS = 24 * HOUR_MS;
const FACTS_OF_CHARGE = { surface: "chat", model: "demo" };
const ALL_OWN = 10_000;

function describeScopeDays(name: string, open: OpenLedger): void {
  describe(`scope days of ${name}`, () => {
    let env: LedgerUnderTest;
    let store: RollUpStore;
    beforeEach(async () => {
      env = await open();
      store = openRivals(env).one;
    });
    afterEach(() => env.close());

    async function newWallet(): Promise<string> {
      const walletId = "acme";
      await env.ledger.createWallet(walletId);
      await env.ledger.topUp({ walletId, topUpId: "funds", amount: 1_000_000n });
      return walletId;
    }

    let charges = 0;
    const charge = (walletId: string, scopes: readonly Scope[]) => {
      const request = { walletId, chargeId: `charge-${++charges}`, keyId: "k1", amount: 5n, scopes };
      return env.ledger.charge({ ...request, facts: FACTS_OF_CHARGE, outcome: FACTS });
    };
    const users = (count: number) =>
      Array.from({ length: count }, (_, number): Scope => ({ kind: "end_user", id: `u${number}` }));

    const rollUp = async (ownRowsMax = ALL_OWN) => {
      while (await rollUpOnce(store, { ownRowsMax }));
    };
    const expectRight = async (ownRowsMax = ALL_OWN) =>
      expect(await readScopeDays(store)).toEqual(await plainScopes(env.ledger, store, ownRowsMax));
    /** The requests of each id of a wallet and kind. */
    const requestsOf = async (walletId: string, kind: string) =>
      [...(await readScopeDays(store))]
        .map(([key, { requests }]) => [key.split(" "), requests] as const)
        .filter(([[wallet, , each]]) => wallet === walletId && each === kind)
        .map(([[, , , id], requests]) => [id, requests] as const);
    const runSql = (sql: string) =>
      // A connection that waits for no lock may meet that of another one.
      until(() =>
        store.runShort({ sql, values: [] }).then(
          () => true,
          () => false,
        ),
      );

    test("a stopping process ends a day before its next hour, and a later one sums it up", async () => {
      const walletId = await newWallet();
      await charge(walletId, users(1));
      env.clock.nowMs += 2 * DAY_MS;
      const signal = AbortSignal.abort();
      // The steps before the day by scope are short.
      while (await rollUpOnce(store, { signal }));
      expect((await readScopeDays(store)).size).toBe(0);
      await rollUp();
      expect(await requestsOf(walletId, "end_user")).toEqual([["u0", 1]]);
    });

    test("scopes beyond the bound count as one other, the first to appear keep rows of their own", async () => {
      const walletId = await newWallet();
      for (const id of ["zoe", "ann", "bob", "zoe", "eve", "dan", "eve"]) {
        await charge(walletId, [
          { kind: "end_user", id },
          { kind: "project", id: "p1" },
        ]);
        env.clock.nowMs += 1_000;
      }
      env.clock.nowMs += 2 * DAY_MS;
      await rollUp(3);
      expect(await requestsOf(walletId, "end_user")).toEqual([
        [OTHER, 3],
        ["ann", 1],
        ["bob", 1],
        ["zoe", 2],
      ]);
      expect(await requestsOf(walletId, "project")).toEqual([["p1", 7]]);
    });

    test("a late settlement and a refund make a day right again", async () => {
      const walletId = await newWallet();
      const [ann, bob] = [
        { kind: "end_user", id: "ann" },
        { kind: "end_user", id: "bob" },
      ] as const;
      const holdId = holdIdOf("late settlement", env.clock.nowMs);
      const request = { walletId, holdId, keyId: "k1", amount: 9n, minimum: 9n, ttlMs: 90 * HOUR_MS };
      await env.ledger.hold({ ...request, scopes: [ann], facts: FACTS_OF_CHARGE });
      const { receiptId } = await charge(walletId, [bob]);
      env.clock.nowMs += 2 * DAY_MS;
      await rollUp();
      expect(await requestsOf(walletId, "end_user")).toEqual([]);
      await env.ledger.settle({ walletId, holdId, amount: 7n, facts: FACTS });
      await rollUp();
      expect(await requestsOf(walletId, "end_user")).toEqual([
        ["ann", 1],
        ["bob", 1],
      ]);
      await expectRight();
      await env.ledger.refund({ walletId, holdId: receiptId, refundId: "refund", amount: 2n });
      expect(await requestsOf(walletId, "end_user")).toEqual([]);
      await rollUp();
      expect(await requestsOf(walletId, "end_user")).toHaveLength(2);
      await expectRight();
    });

    test("a job that is killed between any two writes leaves no wrong row behind", async () => {
      const walletId = await newWallet();
      await Promise.all(users(600).map((user) => charge(walletId, [user, { kind: "run", id: "r" }])));
      env.clock.nowMs += 2 * DAY_MS;
      let kills = 0;
      for (let isKilled = true; isKilled; kills++) {
        // Each process has another bound, so that its rows differ from those that the one before has left.
        const killed = killedAfter(store, kills);
        const steps = async () => {
          while (await rollUpOnce(killed, { ownRowsMax: 250 + ((kills * 97) % 300) }));
        };
        isKilled = await steps().then(
          () => false,
          () => true,
        );
        if (isKilled) expect(await readScopeDays(store)).toEqual(new Map());
      }
      expect(kills).toBeGreaterThan(2);
      await expectRight(250 + (((kills - 1) * 97) % 300));
      for (const ownRowsMax of [3, ALL_OWN]) {
        await runSql("UPDATE usage_cursor SET scopes_version = 0");
        await rollUp(ownRowsMax);
        await expectRight(ownRowsMax);
      }
      expect(await requestsOf(walletId, "end_user")).toHaveLength(600);
    });

    test("the audit finds a scope day that differs from its receipts, and one that is missing", async () => {
      const walletId = await newWallet();
      const scopes = [
        { kind: "parent_key", id: "near" },
        { kind: "parent_key", id: "far" },
        { kind: "tag", id: "team=red" },
      ] as const;
      for (const user of users(4)) await charge(walletId, [...scopes, user]);
      env.clock.nowMs += 2 * DAY_MS;
      await rollUp(2);
      expect(await env.audit()).toEqual([]);
      const found = async (...changes: readonly string[]) => {
        for (const change of changes) await runSql(change);
        const findings = await env.audit();
        await runSql("UPDATE usage_cursor SET scopes_version = 0");
        await rollUp(2);
        return findings;
      };
      const drift = { invariant: "U8", walletId, subject: `${Date.UTC(2026, 0, 14)}` };
      const change = "UPDATE usage_scope_days SET captured_low = captured_low + 1 WHERE";
      expect(await found(`${change} scope_id = 'far'`)).toMatchObject([drift]);
      expect(await found(`${change} scope_id = '${OTHER}'`)).toMatchObject([drift]);
      expect(await found("DELETE FROM usage_scope_days WHERE kind = 'tag'")).toMatchObject([drift]);
      const invalid = "UPDATE usage_cursor SET version = version + 1, totals_version = totals_version + 1";
      expect(await found("DELETE FROM usage_scope_days", invalid)).toEqual([]);
      expect(await env.audit()).toEqual([]);
    });

    test("a first run, and one after a program that knew no scopes, sum up every day again", async () => {
      const walletId = await newWallet();
      const project: Scope = { kind: "project", id: "p1" };
      for (let day = 0; day < 4; day++) {
        await charge(walletId, [project]);
        await charge(walletId, []);
        env.clock.nowMs += DAY_MS;
      }
      await rollUp();
      await expectRight();
      expect(await requestsOf(walletId, "project")).toHaveLength(4);
      await runSql("DELETE FROM usage_scope_days");
      await runSql("UPDATE usage_cursor SET scopes_from_ms = 0, scopes_to_ms = 0, scopes_version = 0");
      expect(await requestsOf(walletId, "project")).toEqual([]);
      await rollUp();
      await expectRight();
      expect(await requestsOf(walletId, "project")).toHaveLength(4);
      await runSql("UPDATE usage_scope_days SET requests = 99");
      await runSql("UPDATE usage_cursor SET version = version + 1, totals_version = totals_version + 1");
      expect(await readScopeDays(store)).toEqual(new Map());
      await rollUp();
      await expectRight();
      expect(await requestsOf(walletId, "project")).toHaveLength(4);
    });

    test("a day whose receipts are gone keeps its sums, and is summed up by no later first run", async () => {
      const walletId = await newWallet();
      const project: Scope = { kind: "project", id: "p1" };
      const { receiptId } = await charge(walletId, [project]);
      const dayMs = env.clock.nowMs - 12 * HOUR_MS;
      env.clock.nowMs += DAY_MS;
      await charge(walletId, [project]);
      env.clock.nowMs += DAY_MS;
      await rollUp();
      await env.ledger.refund({ walletId, holdId: receiptId, refundId: "refund", amount: 2n });
      await runSql(`UPDATE retention SET receipts_from_ms = ${dayMs + DAY_MS}`);
      await rollUp();
      const kept = [...(await readScopeDays(store))].filter(([key]) => key.startsWith(`${walletId} `));
      expect(kept.map(([, { refunded }]) => refunded)).toEqual([0n, 0n]);
      await runSql("UPDATE usage_cursor SET scopes_version = 0");
      await rollUp();
      expect(await requestsOf(walletId, "project")).toEqual([["p1", 1]]);
      const [cursor] = await store.run({ sql: "SELECT * FROM usage_cursor", values: [] });
      expect(readCursor(cursor).scopes.fromMs).toBe(dayMs + DAY_MS);
    });
  });
}

/** A job whose process is killed when it has written scope days this often. */
function killedAfter(store: RollUpStore, writes: number): RollUpStore {
  let left = writes;
  return {
    ...store,
    async write(change) {
      if (change.scopeGroups && left-- <= 0) throw new Error("killed");
      return store.write(change);
    },
  };
}

describeScopeDays("a SQLite file", openOnSqlite);
describeScopeDays("a PostgreSQL database", openOnPostgres);
