import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Scope } from "../../../src/domain/scope.ts";
import type { UsageQuery } from "../../../src/ledger/records.ts";
import { rollUpOnce } from "../../../src/ledger/roll-ups/job.ts";
import type { RollUpStore } from "../../../src/ledger/roll-ups/store.ts";
import { OTHER_SCOPES } from "../../../src/ledger/usage-records.ts";
import type { LedgerUnderTest, OpenLedger } from "../contract/env.ts";
import { openOnPostgres } from "../contract/postgres.ts";
import { openOnSqlite } from "../contract/sqlite.ts";
import { FACTS } from "../samples.ts";
import { HOUR_MS, openRivals } from "./history.ts";

const walletId = "acme";
const DAY_MS = 24 * HOUR_MS;
const user = (id: string): Scope => ({ kind: "end_user", id });
const team = (id: string): Scope => ({ kind: "tag", id: `team=${id}` });
const P1: Scope = { kind: "project", id: "p1" };

function describeReads(name: string, open: OpenLedger): void {
  describe(`usage by scope of ${name}`, () => {
    let env: LedgerUnderTest;
    let store: RollUpStore;
    let charges = 0;
    beforeEach(async () => {
      env = await open();
      store = openRivals(env).one;
      await env.ledger.createWallet(walletId);
      await env.ledger.topUp({ walletId, topUpId: "funds", amount: 1_000_000n });
    });
    afterEach(() => env.close());

    const charge = async (amount: bigint, scopes: readonly Scope[] = []) => {
      const request = { walletId, chargeId: `charge-${++charges}`, keyId: "k1", amount, scopes };
      await env.ledger.charge({ ...request, facts: { surface: "chat", model: "m" }, outcome: FACTS });
      env.clock.nowMs += 1_000;
    };
    /** Closes the day, with so many rows of their own of a kind. */
    const close = async (ownRowsMax: number) => {
      env.clock.nowMs += 2 * DAY_MS;
      while (await rollUpOnce(store, { ownRowsMax }));
    };
    const costs = async (query: Partial<UsageQuery>) => {
      const { rows } = await env.ledger.usage({ walletId, groupBy: [], ...query });
      const [dimension = "wallet"] = query.groupBy ?? [];
      return rows.map(({ group, captured, ok }) => [group[dimension] ?? null, captured, ok]);
    };
    const change = async (sql: string) => {
      for (let done = false; !done; ) {
        done = await store.runShort({ sql, values: [] }).then(
          () => true,
          () => false,
        );
      }
    };

    test("is that of the summed-up day, and none of its receipts is read", async () => {
      await charge(1n, [P1, user("ann"), team("blue")]);
      await charge(2n, [user("ann"), user("bob")]);
      await charge(4n);
      await close(10);
      await change("UPDATE holds SET captured = captured + 100, scopes = NULL");
      expect(await costs({ groupBy: ["end_user"] })).toEqual([
        [null, 4n, 1],
        ["ann", 3n, 2],
      ]);
      expect(await costs({ groupBy: ["project"] })).toEqual([
        [walletId, 6n, 2],
        ["p1", 1n, 1],
      ]);
      expect(await costs({ groupBy: ["tag"], tagKey: "team" })).toEqual([
        [null, 6n, 2],
        ["blue", 1n, 1],
      ]);
      expect(await costs({ scopes: [user("bob")] })).toEqual([[null, 2n, 1]]);
      expect(await costs({ scopes: [{ kind: "project", id: walletId }] })).toEqual([[null, 6n, 2]]);
      expect(await costs({ groupBy: ["end_user"], among: ["ann", "eve"] })).toEqual([["ann", 3n, 2]]);
    });

    test("has the scopes beyond the bound as others, and one of them from its receipts while these are kept", async () => {
      for (const [index, id] of ["ann", "bob", "eve", "dan"].entries())
        await charge(1n << BigInt(index), [user(id), team(id)]);
      await close(2);
      expect(await costs({ groupBy: ["end_user"] })).toEqual([
        [OTHER_SCOPES, 12n, 2],
        ["ann", 1n, 1],
        ["bob", 2n, 1],
      ]);
      expect(await costs({ groupBy: ["end_user"], dearestMax: 1 })).toEqual([[OTHER_SCOPES, 12n, 2]]);
      const eve = { scopes: [user("eve")] };
      const teams = { groupBy: ["tag"], tagKey: "team" } as const;
      expect(await costs(eve)).toEqual([[null, 4n, 1]]);
      expect(await costs({ groupBy: ["end_user"], among: ["eve", "ann"] })).toEqual([
        ["ann", 1n, 1],
        ["eve", 4n, 1],
      ]);
      expect((await costs(teams)).map(([value]) => value)).toEqual(["ann", "bob", "dan", "eve"]);

      await change(`UPDATE retention SET receipts_from_ms = ${env.clock.nowMs}`);
      await change("DELETE FROM holds");
      expect(await costs(eve)).toEqual([[null, 0n, 0]]);
      expect(await costs({ scopes: [user("ann")] })).toEqual([[null, 1n, 1]]);
      // The row of all other tags has those of every key.
      expect(await costs(teams)).toEqual([
        [OTHER_SCOPES, 12n, 2],
        ["ann", 1n, 1],
        ["bob", 2n, 1],
      ]);
    });

    test("is what a limit counts of its period, also of more receipts than are read under the lock", async () => {
      const many = Array.from({ length: 5_001 }, (_, index) => index);
      await Promise.all(many.map((index) => charge(1n, index % 2 === 0 ? [P1] : [user("ann")])));
      const used = async (limitId: string, scope: Scope) => {
        const limit = {
          walletId,
          limitId,
          keyId: undefined,
          scope,
          period: "total",
          amount: 9_999n,
        } as const;
        await env.ledger.setSpendLimit(limit);
        const limits = await env.ledger.spendLimits(walletId);
        return limits.find((each) => each.limitId === limitId)?.used;
      };
      const [project] = await Promise.all([used("l1", P1), charge(3n, [P1])]);
      expect([2_501n, 2_504n]).toContain(project ?? 0n);
      expect(await used("l2", P1)).toBe(2_504n);
      expect(await used("l3", { kind: "project", id: walletId })).toBe(2_500n);
      await close(10);
      expect(await used("l4", P1)).toBe(2_504n);
      expect(await env.audit()).toEqual([]);
    });
  });
}

describeReads("a SQLite file", openOnSqlite);
describeReads("a PostgreSQL database", openOnPostgres);
