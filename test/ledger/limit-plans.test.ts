import { Database as SqliteClient } from "bun:sqlite";
import { expect, test } from "bun:test";
import { createFullLimitsRead } from "../../src/ledger/queries/full-limits.ts";
import { type QueryValue, type Row, type RunQuery, SQLITE } from "../../src/ledger/queries/query.ts";
import { createSpendLimitList } from "../../src/ledger/queries/wallets.ts";
import { openTempStorage } from "../accounts/temp-storage.ts";

const BY_KEY = /SEARCH c USING .*\(wallet_id=\? AND limit_id=\? AND period_start_ms/;
const FACTS = { surface: "chat", model: "m" };

test("SQLite finds each counter of a template by its key, however many the template has", async () => {
  const { database, ledger, clock, newAccount, close } = await openTempStorage("sqlite");
  if (database.dialect !== "sqlite") throw new Error("opened the wrong dialect");
  const { id: walletId } = await newAccount();
  await ledger.topUp({ walletId, topUpId: "t", amount: 1_000n });
  const template = { walletId, limitId: "each", keyId: undefined, each: "end_user", period: "day" } as const;
  await ledger.setSpendLimit({ ...template, amount: 10n });
  const scopes = [{ kind: "end_user", id: "ada" }] as const;
  const holdId = Bun.randomUUIDv7("hex", clock.nowMs);
  const hold = { walletId, holdId, keyId: "k", scopes, amount: 9n, minimum: 9n, ttlMs: 60_000, facts: FACTS };
  await ledger.hold(hold);

  const client = new SqliteClient(database.sqlite.path, { readonly: true, safeIntegers: true });
  const plans: string[] = [];
  const run: RunQuery = async ({ sql, values }) => {
    const steps = client
      .query<{ detail: string }, QueryValue[]>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...values)
      .map(({ detail }) => detail);
    plans.push(steps.join("\n"));
    return client.query<Row, QueryValue[]>(sql).all(...values);
  };
  const now = () => clock.nowMs;
  expect(await createSpendLimitList(run, SQLITE, now)(walletId, "k", scopes)).toMatchObject([{ held: 9n }]);
  const { limits } = await createFullLimitsRead(run, SQLITE, now)(walletId, { percent: 80 });
  expect(limits).toMatchObject([{ subject: "ada", held: 9n }]);
  const ofCounters = plans.filter((plan) => plan.includes("SEARCH c ") || plan.includes("SCAN c"));
  expect(ofCounters).toHaveLength(2);
  for (const plan of ofCounters) expect(plan).toMatch(BY_KEY);
  client.close();
  await close();
});
