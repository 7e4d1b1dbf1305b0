import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { FACTS, holdIdOf, holdOf, NOON_MS, WALLET } from "../samples.ts";
import { DAY_MS, moveTo, openOnPostgres, openOnSqlite, type RetainedLedger, retainAll } from "./env.ts";

const walletId = WALLET;

describe.each([
  ["SQLite", openOnSqlite],
  ["PostgreSQL", () => openOnPostgres(true)],
] as const)("the counters of limits in %s", (_, open) => {
  let env: RetainedLedger;

  beforeEach(async () => {
    env = await open();
    await env.ledger.createWallet(walletId);
    await env.ledger.topUp({ walletId, topUpId: "funds", amount: 1_000n });
    const each = { walletId, keyId: undefined, each: "end_user", amount: 100n } as const;
    await env.ledger.setSpendLimit({ ...each, limitId: "daily", period: "day" });
    await env.ledger.setSpendLimit({ ...each, limitId: "ever", period: "total" });
    await env.ledger.setSpendLimit({ ...each, limitId: "window", period: "5h" });
  });
  afterEach(() => env.close());

  async function spend(name: string, atMs: number) {
    env.clock.nowMs = atMs;
    const holdId = holdIdOf(name, atMs);
    const scopes = [{ kind: "end_user", id: name }] as const;
    await env.ledger.hold(holdOf(10n, { holdId, scopes }));
    await env.ledger.settle({ walletId, holdId, amount: 7n, facts: FACTS });
    return holdId;
  }

  async function countersOf(limitId: string) {
    const sql = `SELECT limit_id FROM limit_counters ORDER BY limit_id`;
    const rows = await env.run(sql);
    return rows.map((row) => String(row.limit_id)).filter((id) => id.startsWith(limitId));
  }

  test("go with the receipts of their periods, but those in total", async () => {
    await spend("ann", NOON_MS);
    await spend("bob", NOON_MS + 20 * DAY_MS);
    await moveTo(env, NOON_MS + 31 * DAY_MS);
    await retainAll(env.ledger, 30);
    expect(await countersOf("daily")).toEqual(["daily\nann", "daily\nbob"]);

    await moveTo(env, NOON_MS + 64 * DAY_MS);
    await spend("cid", NOON_MS + 64 * DAY_MS);
    await moveTo(env, NOON_MS + 65 * DAY_MS);
    await retainAll(env.ledger, 30);
    expect(await countersOf("daily")).toEqual(["daily\nbob", "daily\ncid"]);
    expect(await countersOf("window")).toEqual(["window\nbob\n", "window\ncid\n"]);
    expect(await countersOf("ever")).toEqual(["ever\nann", "ever\nbob", "ever\ncid"]);
    expect(await env.findings()).toEqual([]);
  });

  test("stay while a hold of their period is open", async () => {
    env.clock.nowMs = NOON_MS;
    const scopes = [{ kind: "end_user", id: "ann" }] as const;
    const holdId = holdIdOf("open", NOON_MS);
    await env.ledger.hold(holdOf(10n, { holdId, scopes, ttlMs: 90 * DAY_MS }));
    await spend("ann", NOON_MS + 1_000);
    await moveTo(env, NOON_MS + 80 * DAY_MS);
    await retainAll(env.ledger, 30);
    expect(await countersOf("daily")).toEqual(["daily\nann"]);
    await env.ledger.settle({ walletId, holdId, amount: 4n, facts: FACTS });
    expect(await env.findings()).toEqual([]);
  });

  test("and the rows of deleted limits go with the last receipt that counted against them", async () => {
    const own = { walletId, keyId: undefined, amount: 100n } as const;
    const scope = { kind: "run", id: "k:r" } as const;
    await env.ledger.setSpendLimit({ ...own, limitId: "run:k:r", scope, period: "total" });
    await env.ledger.setSpendLimit({ ...own, limitId: "unused", scope, period: "5h" });
    env.clock.nowMs = NOON_MS;
    const holdId = holdIdOf("run", NOON_MS);
    await env.ledger.hold(holdOf(10n, { holdId, scopes: [scope] }));
    for (const limitId of ["run:k:r", "unused", "ever"]) {
      await env.ledger.deleteSpendLimit({ walletId, limitId });
    }
    await env.ledger.settle({ walletId, holdId, amount: 7n, facts: FACTS });
    await spend("ann", NOON_MS + 1_000);
    const limits = async () =>
      (await env.run("SELECT limit_id FROM spend_limits ORDER BY limit_id")).map(({ limit_id }) => limit_id);
    await moveTo(env, NOON_MS + 40 * DAY_MS);
    await spend("bob", NOON_MS + 40 * DAY_MS);
    await moveTo(env, NOON_MS + 60 * DAY_MS);
    await retainAll(env.ledger, 30);
    expect(await limits()).toEqual(["daily", "ever", "run:k:r", "unused", "window"]);
    expect(await countersOf("run:k:r")).toEqual(["run:k:r"]);

    await moveTo(env, NOON_MS + 64 * DAY_MS);
    await retainAll(env.ledger, 30);
    expect(await limits()).toEqual(["daily", "window"]);
    expect(await countersOf("run:k:r")).toEqual([]);
    expect(await env.findings()).toEqual([]);
  });

  test("begin at zero for a limit that is set again after its row went", async () => {
    const limit = { walletId, limitId: "own", keyId: "k1", period: "total", amount: 100n } as const;
    await env.ledger.setSpendLimit(limit);
    await spend("ann", NOON_MS);
    await env.ledger.deleteSpendLimit({ walletId, limitId: "own" });
    await moveTo(env, NOON_MS + 64 * DAY_MS);
    await retainAll(env.ledger, 30);
    await env.ledger.setSpendLimit(limit);
    await spend("bob", NOON_MS + 64 * DAY_MS);
    await moveTo(env, NOON_MS + 65 * DAY_MS);
    expect(await env.findings()).toEqual([]);
  });

  test("of a limit that does not bind their hold are found by the audit", async () => {
    await spend("ann", NOON_MS);
    await env.ledger.setSpendLimit({
      walletId,
      limitId: "bob's",
      keyId: undefined,
      scope: { kind: "end_user", id: "bob" },
      period: "day",
      amount: 9n,
    });
    await env.run(`UPDATE holds SET limits = '[["bob''s",0]]' WHERE hold_id = '${holdIdOf("ann", NOON_MS)}'`);
    expect(await env.findings()).toContain("S1");
  });
});
