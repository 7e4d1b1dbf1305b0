import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LedgerUnderTest, OpenLedger } from "../contract/env.ts";
import { openOnPostgres } from "../contract/postgres.ts";
import { openOnSqlite } from "../contract/sqlite.ts";
import { NOON_MS } from "../samples.ts";
import { histories, openRivals, type Rivals, startHistory } from "./history.ts";

const RUNS = Number(Bun.env.TEST_ROLL_UP_RUNS ?? 12);

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
          while (await env.rollUp());
          await history.check();
        }),
        { numRuns: RUNS, endOnFailure: true },
      );
      env.clock.nowMs = NOON_MS + 300 * 3_600_000;
      while ((await env.sweep()) > 0);
      while (await env.rollUp());
      expect(await env.audit()).toEqual([]);
    }, 300_000);
  });
}

describeRollUps("a SQLite file", openOnSqlite);
describeRollUps("a PostgreSQL database", openOnPostgres);
