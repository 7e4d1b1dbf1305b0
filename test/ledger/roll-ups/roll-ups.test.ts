import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { rollUpOnce } from "../../../src/ledger/roll-ups/job.ts";
import { until } from "../../support/until.ts";
import type { LedgerUnderTest, OpenLedger } from "../contract/env.ts";
import { openOnPostgres } from "../contract/postgres.ts";
import { openOnSqlite } from "../contract/sqlite.ts";
import { FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import {
  HOUR_MS,
  histories,
  MINUTE_MS,
  OWN_ROWS_MAX,
  openRivals,
  type Rivals,
  startHistory,
} from "./history.ts";
import { readScopeDays } from "./plain-scopes.ts";

const RUNS = Number(Bun.env.TEST_ROLL_UP_RUNS ?? 4);

function describeRollUps(name: string, open: OpenLedger): void {
  describe(`usage of ${name}`, () => {
    let env: LedgerUnderTest;
    let rivals: Rivals;
    beforeAll(async () => {
      env = await open();
      rivals = openRivals(env);
    });
    afterAll(() => env.close());

    test("equals a plain sum over all receipts, whatever happened and wherever the job stands", async () => {
      await fc.assert(
        fc.asyncProperty(histories, async (steps) => {
          env.clock.nowMs = NOON_MS;
          const history = await startHistory(env, rivals);
          for (const [index, step] of steps.entries()) {
            await history.run(step);
            if (index % 7 === 6) await history.check();
          }
          await history.check();
          while (await rollUpOnce(rivals.one, { ownRowsMax: OWN_ROWS_MAX }));
          await history.check();
          await history.checkLimits();
        }),
        { numRuns: RUNS, endOnFailure: true },
      );
      env.clock.nowMs = NOON_MS + 300 * 3_600_000;
      while ((await env.sweep()) > 0);
      while (await env.rollUp());
      // The histories had something to compare.
      expect((await readScopeDays(rivals.one)).size).toBeGreaterThan(0);
      expect(await env.audit()).toEqual([]);
    });

    test("an hour with an open hold is read from the receipts until the hold ends", async () => {
      const { ledger, clock } = env;
      clock.nowMs = NOON_MS + 400 * HOUR_MS + 59 * MINUTE_MS;
      const walletId = await newWallet(env, "open over the end of an hour");
      const holdId = holdIdOf("over the end", clock.nowMs);
      const facts = { surface: "chat", model: "demo" };
      await ledger.hold({
        walletId,
        holdId,
        keyId: "k1",
        amount: 9n,
        minimum: 9n,
        ttlMs: 9 * HOUR_MS,
        facts,
      });
      clock.nowMs += 3 * HOUR_MS;
      while (await env.rollUp());
      const query = { walletId, groupBy: ["hour", "outcome"] } as const;
      expect((await ledger.usage(query)).rows).toMatchObject([{ open: 1, settled: 0 }]);
      expect((await ledger.rollUps()).staleHours).toBe(1);
      await ledger.settle({ walletId, holdId, amount: 7n, facts: FACTS });
      expect((await ledger.usage(query)).rows).toMatchObject([{ open: 0, settled: 1, captured: 7n }]);
      while (await env.rollUp());
      expect((await ledger.usage(query)).rows).toMatchObject([{ open: 0, settled: 1, captured: 7n }]);
      expect((await ledger.rollUps()).staleHours).toBe(0);
    });

    test("receipts at the ends of an hour and a day count in theirs, before and after they are closed", async () => {
      const { ledger, clock } = env;
      const midnightMs = Date.UTC(2026, 2, 1);
      clock.nowMs = midnightMs;
      const walletId = await newWallet(env, "ends of hours");
      for (const atMs of [-HOUR_MS, -1, 0, HOUR_MS - 1, HOUR_MS].map((ms) => midnightMs + ms)) {
        const holdId = holdIdOf("end", atMs);
        const facts = { surface: "chat", model: "demo" };
        await ledger.hold({ walletId, holdId, keyId: "k1", amount: 1n, minimum: 1n, ttlMs: 9_000, facts });
        await ledger.settle({ walletId, holdId, amount: 1n, facts: FACTS });
      }
      const counts = async (fromMs: number, toMs: number) =>
        (await ledger.usage({ walletId, groupBy: ["day"], fromMs, toMs })).rows.map(
          ({ requests }) => requests,
        );
      for (const hours of [0, 1, 3, 50]) {
        clock.nowMs = midnightMs + hours * HOUR_MS;
        while (await env.rollUp());
        expect(await counts(midnightMs - HOUR_MS, midnightMs + 2 * HOUR_MS)).toEqual([2, 3]);
        expect(await counts(midnightMs - 1, midnightMs + HOUR_MS - 1)).toEqual([1, 1]);
        expect(await counts(midnightMs, midnightMs + HOUR_MS)).toEqual([2]);
      }
    });

    test("a clock that ran ahead for days costs no receipt and no cent", async () => {
      const { ledger, clock } = env;
      clock.nowMs = Date.UTC(2027, 0, 1);
      const walletId = await newWallet(env, "clock ahead");
      while (await env.rollUp());
      clock.nowMs = Date.UTC(2026, 5, 1, 10, 30);
      for (const minutes of [0, 40, 80]) {
        clock.nowMs += minutes * MINUTE_MS;
        const holdId = holdIdOf(`ahead ${minutes}`, clock.nowMs);
        const facts = { surface: "chat", model: "demo" };
        await ledger.hold({ walletId, holdId, keyId: "k1", amount: 1n, minimum: 1n, ttlMs: 9_000, facts });
        await ledger.settle({ walletId, holdId, amount: 1n, facts: FACTS });
        while (await env.rollUp());
      }
      expect((await ledger.usage({ walletId, groupBy: [] })).rows).toMatchObject([
        { requests: 3, captured: 3n },
      ]);
      expect((await ledger.receipts({ walletId }, { size: 9 })).items).toHaveLength(3);
    });

    test("the audit finds a roll-up that lost an hour, and warns of roll-ups that lag", async () => {
      const { ledger, clock } = env;
      clock.nowMs = Date.UTC(2027, 5, 1, 10, 30);
      const walletId = await newWallet(env, "drift");
      const facts = { surface: "chat", model: "demo" };
      await ledger.charge({ walletId, chargeId: "c1", keyId: "k1", amount: 5n, facts, outcome: FACTS });
      clock.nowMs += 50 * HOUR_MS;
      expect(await env.audit()).toMatchObject([{ invariant: "U3" }]);
      while (await env.rollUp());
      expect(await env.audit()).toEqual([]);
      const [state] = await rivals.one.run({ sql: "SELECT version FROM usage_cursor", values: [] });
      const startMs = Date.UTC(2027, 5, 1, 10);
      const groups = [{ walletId, startMs, rows: [], isContinued: false }];
      await rivals.one.write({ version: Number(state?.version), table: "usage_hours", groups });
      expect(await env.audit()).toMatchObject([
        { invariant: "U1", walletId, subject: `${startMs}` },
        { invariant: "U2", walletId },
        { invariant: "U7", walletId, subject: `${startMs}` },
        { invariant: "U4", subject: `${startMs}` },
      ]);
      const [after] = await rivals.one.run({ sql: "SELECT version FROM usage_cursor", values: [] });
      const stale = [{ walletId, startMs }];
      await rivals.one.write({ version: Number(after?.version), stale });
      while (await env.rollUp());
      expect(await env.audit()).toEqual([]);
    });

    test("the audit finds a wrong upstream cost, and no fault in an hour of a program that knew no costs", async () => {
      const { ledger, clock } = env;
      clock.nowMs = Date.UTC(2027, 5, 10, 10, 30);
      const walletId = await newWallet(env, "costs");
      const facts = { surface: "chat", model: "demo" };
      await ledger.charge({ walletId, chargeId: "c1", keyId: "k1", amount: 5n, facts, outcome: FACTS });
      clock.nowMs += 50 * HOUR_MS;
      while (await env.rollUp());
      const { runShort } = rivals.one;
      const setCosts = (cost: string, costed: string) => {
        const sql = `UPDATE usage_hours SET upstream_cost_low = ${cost}, upstream_cost_high = ${costed}, costed_low = ${cost},
          costed_high = ${costed} WHERE wallet_id = '${walletId}'`;
        // A connection that waits for no lock may meet that of another one.
        return until(() =>
          runShort({ sql, values: [] }).then(
            () => true,
            () => false,
          ),
        );
      };
      const report = () => ledger.usage({ walletId, groupBy: ["hour"], fromMs: clock.nowMs - 60 * HOUR_MS });
      expect((await report()).rows[0]).toMatchObject({ upstreamCost: 4n, costed: 5n, captured: 5n });
      await setCosts("5", "0");
      expect(await env.audit()).toMatchObject([
        { invariant: "U2", walletId },
        { invariant: "U7", walletId },
        { invariant: "U4" },
      ]);
      await setCosts("NULL", "NULL");
      expect(await env.audit()).toEqual([]);
      expect((await report()).rows[0]).toMatchObject({ upstreamCost: 0n, costed: 0n, captured: 5n });
      const [state] = await rivals.one.run({ sql: "SELECT version FROM usage_cursor", values: [] });
      const stale = [{ walletId, startMs: Date.UTC(2027, 5, 10, 10) }];
      await rivals.one.write({ version: Number(state?.version), stale });
      while (await env.rollUp());
      expect(await env.audit()).toEqual([]);
      expect((await report()).rows[0]).toMatchObject({ upstreamCost: 4n, costed: 5n });
    });

    test("totals of all wallets are made anew when a program without totals has written roll-ups", async () => {
      const { ledger, clock } = env;
      clock.nowMs = Date.UTC(2027, 6, 1, 10, 30);
      const walletId = await newWallet(env, "older program");
      const facts = { surface: "chat", model: "of an older program" };
      await ledger.charge({ walletId, chargeId: "c1", keyId: "k1", amount: 5n, facts, outcome: FACTS });
      clock.nowMs += 50 * HOUR_MS;
      while (await env.rollUp());
      const { runShort } = rivals.one;
      const setTo = (count: string) =>
        `UPDATE usage_hours SET requests = ${count} WHERE model = 'of an older program'`;
      await runShort({ sql: setTo("requests + 1"), values: [] });
      await runShort({ sql: "UPDATE usage_cursor SET version = version + 1", values: [] });
      const query = {
        walletId: undefined,
        model: "of an older program",
        fromMs: clock.nowMs - 60 * HOUR_MS,
      } as const;
      const requests = async () => (await ledger.usage({ ...query, groupBy: ["hour"] })).rows[0]?.requests;
      expect(await requests()).toBe(2);
      while (await env.rollUp());
      expect(await requests()).toBe(2);
      await runShort({ sql: setTo("requests - 1"), values: [] });
      expect(await requests()).toBe(2);
      await runShort({ sql: "UPDATE usage_cursor SET version = version + 1", values: [] });
      while (await env.rollUp());
      expect(await requests()).toBe(1);
      expect(await env.audit()).toEqual([]);
    });

    test("a proof adds up the whole journal, wherever its sums end", async () => {
      const { ledger, clock } = env;
      clock.nowMs = Date.UTC(2027, 7, 1, 10, 30);
      const walletId = await newWallet(env, "long journal");
      const charge = (number: number) =>
        ledger.charge({
          walletId,
          chargeId: `c${number}`,
          keyId: "k1",
          amount: BigInt(1 + (number % 3)),
          facts: { surface: "chat", model: "demo" },
          outcome: FACTS,
        });
      await ledger.topUp({ walletId, topUpId: "more", amount: 9_000_000_000_000_000n });
      await Promise.all(Array.from({ length: 5_100 }, (_, number) => charge(number)));
      const before = await ledger.journalTotals(walletId);
      expect(before).toMatchObject({ transfers: 5_102, toppedUp: 9_000_000_000_001_000n });
      while (await env.rollUp());
      const [sums] = await rivals.one.run({
        sql: "SELECT sum(transfers) AS summed FROM journal_sums",
        values: [],
      });
      expect(Number(sums?.summed)).toBe(5_102);
      expect(await ledger.journalTotals(walletId)).toEqual(before);
      await charge(5_101);
      const { transfers, charged } = await ledger.journalTotals(walletId);
      expect([transfers, charged]).toEqual([5_103, before.charged + 2n]);
      expect(await env.audit()).toEqual([]);
    });

    test("an audit takes corrections off the sums of a journal", async () => {
      const { ledger, clock } = env;
      clock.nowMs = Date.UTC(2027, 8, 1, 10, 30);
      const walletId = await newWallet(env, "corrected");
      await ledger.topUp({ walletId, topUpId: "too much", amount: -3_000_000_007n });
      const topUps = Array.from({ length: 5_000 }, (_, number) => `more ${number}`);
      await Promise.all(topUps.map((topUpId) => ledger.topUp({ walletId, topUpId, amount: 2n })));
      while (await env.rollUp());
      const [sums] = await rivals.one.run({
        sql: `SELECT topped_up_high AS high, topped_up_low AS low FROM journal_sums WHERE wallet_id = '${walletId}'`,
        values: [],
      });
      expect(BigInt(String(sums?.high)) * 1_000_000_000n + BigInt(String(sums?.low))).toBe(-2_999_989_007n);
      expect(await env.audit()).toEqual([]);
    });

    test("a job that read the clock before another took the lease waits, and goes on when the clock was set back", async () => {
      const { clock } = env;
      const [one, other] = [env.openRollUps(), env.openRollUps()];
      clock.nowMs += 1_000 * HOUR_MS;
      expect(await one.takeLease(MINUTE_MS)).toBe(true);
      clock.nowMs -= 1;
      expect(await other.takeLease(MINUTE_MS)).toBe(false);
      clock.nowMs -= HOUR_MS;
      expect(await other.takeLease(MINUTE_MS)).toBe(true);
    });
  });
}

async function newWallet({ ledger }: LedgerUnderTest, walletId: string): Promise<string> {
  await ledger.createWallet(walletId);
  await ledger.topUp({ walletId, topUpId: "funds", amount: 1_000n });
  return walletId;
}

describeRollUps("a SQLite file", openOnSqlite);
describeRollUps("a PostgreSQL database", openOnPostgres);
