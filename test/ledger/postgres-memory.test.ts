// Batches that PostgreSQL's store decides from memory: one statement, which must fail whenever memory is not current.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openPostgres } from "../../src/db/postgres/database.ts";
import type { Store } from "../../src/ledger/engine/store.ts";
import { createPostgresRollUpStore } from "../../src/ledger/postgres/roll-up-store.ts";
import { createRunQuery } from "../../src/ledger/postgres/run-query.ts";
import { createPostgresStore } from "../../src/ledger/postgres/store.ts";
import { checkedStatementOf } from "../../src/ledger/postgres/write-statements.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { until } from "../support/until.ts";
import { steps } from "./commands.ts";
import { batchesOf, decideAll, expectSame, runAll } from "./contract/batches.ts";
import { startCuttingProxy } from "./cutting-proxy.ts";
import { openPostgresEnv, type PostgresEnv } from "./postgres-env.ts";
import { errorCodeOf, FACTS, holdIdOf, holdOf, NOON_MS, WALLET } from "./samples.ts";

let env: PostgresEnv;

beforeEach(async () => {
  env = await openPostgresEnv(100n);
  await hold("first");
});

afterEach(async () => {
  const findings = await env.audit();
  await env.close();
  expect(findings).toEqual([]);
});

const hold = (name: string, amount = 1n) => env.ledger.hold(holdOf(amount, { holdId: holdIdOf(name) }));
const settle = (name: string, amount: bigint) =>
  env.ledger.settle({ walletId: WALLET, holdId: holdIdOf(name), amount, facts: FACTS });

/** Returns how the store decided its last batch: the last statement of its connection tells. */
async function lastDecidedBy(): Promise<"memory" | "lock"> {
  const rows: { query: string }[] = await env.client.unsafe(
    `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND (query LIKE '%written0%' OR query IN ('COMMIT', 'ROLLBACK')) ORDER BY query_start DESC LIMIT 1`,
  );
  return rows[0]?.query.includes("written0") ? "memory" : "lock";
}

/** Resolves when so many statements of the database wait for locks. A transaction sees its first reading only. */
async function untilWaiting(count: number): Promise<void> {
  const waiting = `SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await env.client.unsafe(waiting)).length < count) await Bun.sleep(2);
}

describe("a wallet that no other process changes", () => {
  test("is decided from memory after its first batch", async () => {
    await env.ledger.topUp({ walletId: WALLET, topUpId: "none", amount: 1n });
    expect(await lastDecidedBy()).toBe("lock");
    await env.ledger.topUp({ walletId: WALLET, topUpId: "back", amount: -1n });
    expect(await hold("h1", 10n)).toMatchObject({ granted: 10n, balances: { held: 11n } });
    expect(await lastDecidedBy()).toBe("memory");
    expect(await settle("h1", 4n)).toMatchObject({ captured: 4n, balances: { posted: 96n, held: 1n } });
    expect(await lastDecidedBy()).toBe("memory");
    await env.ledger.extend({ walletId: WALLET, holdId: holdIdOf("first"), accrued: 1n, ttlMs: 90_000 });
    expect(await lastDecidedBy()).toBe("memory");
    expect(await env.client.unsafe("SELECT accrued FROM holds WHERE state = 'held'")).toEqual([
      { accrued: 1n },
    ]);
  });

  test("is decided under the lock when a hold of an ended id is repeated", async () => {
    await hold("h1", 10n);
    await settle("h1", 4n);
    await hold("h2");
    expect(await hold("h1", 10n)).toMatchObject({ granted: 10n, replayed: true });
    expect(await env.ledger.balances(WALLET)).toMatchObject({ posted: 96n, held: 2n });
  });

  test("is decided under the lock when money falls short, where due holds are expired", async () => {
    await hold("h1", 98n);
    await env.client.unsafe("UPDATE holds SET expires_at_ms = 0 WHERE granted = 98");
    expect(await hold("h2", 90n)).toMatchObject({ granted: 90n, balances: { held: 91n } });
  });

  test("keeps its open holds in memory when a command under the lock comes between", async () => {
    await hold("h1", 10n);
    await env.ledger.topUp({ walletId: WALLET, topUpId: "more", amount: 1n });
    expect(await settle("h1", 4n)).toMatchObject({ balances: { posted: 97n } });
    expect(await lastDecidedBy()).toBe("memory");
  });
});

describe("a wallet that another process changed", () => {
  test("is decided under the lock until it was found unchanged several times", async () => {
    const other = await env.openAnother();
    await other.topUp({ walletId: WALLET, topUpId: "theirs", amount: 1n });
    const decidedBy: string[] = [];
    for (let i = 0; i < 7; i++) {
      await hold(`h${i}`);
      decidedBy.push(await lastDecidedBy());
    }
    expect(decidedBy).toEqual(["lock", "lock", "lock", "lock", "lock", "memory", "memory"]);
  });

  // A program of an earlier version sets a limit without writing the wallet's row.
  test("by nothing but a spending limit is declined beyond it", async () => {
    await hold("h1");
    await env.client.unsafe(
      `INSERT INTO spend_limits VALUES ('${WALLET}', 'l1', 'k1', 'total', NULL, 5, NULL)`,
    );
    expect(await errorCodeOf(hold("h2", 6n))).toBe("spending_limit_exceeded");
  });

  test("while the statement waited for it is decided anew, with no other row locked meanwhile", async () => {
    await hold("h1", 10n);
    let settled: Promise<unknown> | undefined;
    await env.client.begin(async (other) => {
      await other.unsafe("UPDATE wallets SET credit_limit = 0, posted = posted");
      settled = settle("h1", 4n);
      await untilWaiting(1);
      const free = await other.unsafe("SELECT 1 FROM holds FOR UPDATE SKIP LOCKED");
      expect(free).toHaveLength(2);
    });
    expect(await settled).toMatchObject({ captured: 4n, balances: { posted: 96n, held: 1n } });
    expect(await lastDecidedBy()).toBe("lock");
  });
});

// A program of an earlier version extends a hold without writing the wallet's row.
describe("a hold that only another process extended", () => {
  const expiresAtMs = NOON_MS + 600_000;

  beforeEach(async () => {
    await hold("h1", 10n);
    await env.client.unsafe("UPDATE holds SET accrued = 7, expires_at_ms = $1 WHERE granted = 10", [
      expiresAtMs,
    ]);
  });

  test("keeps its accrued amount and its time when it is extended by less", async () => {
    await env.ledger.extend({ walletId: WALLET, holdId: holdIdOf("h1"), accrued: 3n, ttlMs: 61_000 });
    expect(await lastDecidedBy()).toBe("lock");
    const rows = await env.client.unsafe("SELECT accrued, expires_at_ms FROM holds WHERE granted = 10");
    expect(rows).toEqual([{ accrued: 7n, expires_at_ms: BigInt(expiresAtMs) }]);
  });

  test("keeps its accrued amount when it is settled", async () => {
    expect(await settle("h1", 4n)).toMatchObject({ captured: 4n, balances: { posted: 96n, held: 1n } });
    expect(await env.client.unsafe("SELECT accrued FROM holds WHERE granted = 10")).toEqual([
      { accrued: 7n },
    ]);
  });
});

test("a statement from memory finds its holds by their ids, and never reads all open holds", async () => {
  const statement = checkedStatementOf(["wallets", "holds", "resolutions"]);
  await env.client.begin(async (transaction) => {
    const off = ["seqscan", "hashjoin", "mergejoin"]
      .map((name) => `SET LOCAL enable_${name} = off;`)
      .join("");
    await transaction.unsafe(`${off} SET LOCAL plan_cache_mode = force_generic_plan;`);
    await transaction.unsafe(`PREPARE checked AS ${statement}`);
    const plan = await transaction.unsafe("EXPLAIN EXECUTE checked('{}', '{}', '{}', 0, '{}', 0, 0, 0)");
    await transaction.unsafe("DEALLOCATE checked");
    const lines = plan.map((row: Record<string, string>) => row["QUERY PLAN"]).join("\n");
    expect(lines).toMatch(/Index Scan using holds_\w+_pkey/);
    expect(lines).not.toContain("expires_at_ms_idx");
  });
});

test("the roll-ups cannot close an hour while a statement from memory that knows it open is running", async () => {
  await hold("h1", 10n);
  const { client } = env;
  const rollUps = createPostgresRollUpStore({ client, run: createRunQuery(client), now: () => NOON_MS });
  let settled: Promise<unknown> | undefined;
  await client.begin(async (other) => {
    await other.unsafe("SELECT 1 FROM wallets FOR UPDATE");
    settled = settle("h1", 4n);
    await untilWaiting(1);
    expect(await rollUps.raiseFence(NOON_MS + 3_600_000)).toBe(false);
  });
  expect(await settled).toMatchObject({ captured: 4n });
});

test("a statement whose connection ended while it waited changes nothing that its repetition changed", async () => {
  const proxy = await startCuttingProxy(env.url);
  const ledger = await env.openAnother({ url: proxy.url });
  await ledger.hold(holdOf(10n));
  const request = { walletId: WALLET, holdId: holdIdOf("h1"), amount: 4n, facts: FACTS };
  let settled: Promise<unknown> | undefined;
  await env.client.begin(async (other) => {
    await other.unsafe("SELECT 1 FROM wallets FOR UPDATE");
    settled = ledger.settle(request);
    await untilWaiting(1);
    proxy.shut();
    proxy.open();
    await untilWaiting(2);
  });
  expect(await settled).toMatchObject({ captured: 4n, balances: { posted: 96n } });
  expect(await ledger.settle(request)).toMatchObject({ replayed: true, balances: { posted: 96n, held: 1n } });
  await ledger.close();
  await proxy.close();
});

test("three ledgers that fight for one wallet spend it exactly, and complete every command", async () => {
  await env.ledger.topUp({ walletId: WALLET, topUpId: "more", amount: 500n });
  const ledgers = [env.ledger, await env.openAnother(), await env.openAnother()];
  const spend = async (number: number) => {
    const ledger = ledgers[number % 3];
    const holdId = holdIdOf(`fight${number}`);
    await ledger?.hold(holdOf(2n, { holdId }));
    await ledger?.settle({ walletId: WALLET, holdId, amount: 2n, facts: FACTS });
  };
  const outcomes = await Promise.allSettled(Array.from({ length: 400 }, (_, number) => spend(number)));
  const declined = outcomes.filter(({ status }) => status === "rejected").length;
  const { posted, held } = await env.ledger.balances(WALLET);
  expect({ posted, held }).toEqual({ posted: 600n - 2n * BigInt(400 - declined), held: 1n });
  expect(posted).toBeGreaterThanOrEqual(1n);
});

test("an hour that the roll-ups closed meanwhile is marked stale by a settlement from memory", async () => {
  await hold("h1", 10n);
  const { client } = env;
  const rollUps = createPostgresRollUpStore({ client, run: createRunQuery(client), now: () => NOON_MS });
  expect(await rollUps.raiseFence(NOON_MS + 3_600_000)).toBe(true);
  await settle("h1", 4n);
  expect(await client.unsafe("SELECT 1 FROM usage_stale")).toHaveLength(1);
  await client.unsafe("DELETE FROM usage_stale");
  await client.unsafe("UPDATE usage_fence SET fence_ms = 0");
});

test("the checked statement fails when the time assumed is off by more than a second", async () => {
  const [wallet] = await env.client.unsafe("SELECT *, xmin::text AS version FROM wallets");
  const row = [
    wallet.wallet_id,
    wallet.posted,
    wallet.held,
    wallet.credit_limit,
    wallet.state,
    wallet.last_seq,
    wallet.newest_credit,
    wallet.mixed,
    wallet.newest_hold_ms,
  ];
  const rows = `{"(${[...row, wallet.created_at_ms].join(",")})"}`;
  const run = (nowMs: number | null) =>
    env.client.begin(async (transaction) => {
      await transaction.unsafe(checkedStatementOf(["wallets"]), [
        rows,
        1,
        `{${wallet.version}}`,
        0,
        0,
        nowMs,
      ]);
      throw new Error("rolled back");
    });
  await expect(run(Date.now() - 5_000)).rejects.toThrow("division by zero");
  await expect(run(Date.now() + 60_000)).rejects.toThrow("division by zero");
  // Between the reading of the clock and the statement, a busy machine may lose more than the second.
  await until(() => run(Date.now()).catch(({ message }) => message === "rolled back"));
  await expect(run(null)).rejects.toThrow("rolled back");
});

/** The tag that completes the checked statement, on the wire. */
const SELECTED = "SELECT 1\0";

test.each([
  ["before", "before commit", holdIdOf("h1")],
  ["after", "after commit", SELECTED],
] as const)("a connection cut %s a commit from memory changes no money", async (_, cut, marker) => {
  const proxy = await startCuttingProxy(env.url);
  const ledger = await env.openAnother({ url: proxy.url });
  await ledger.hold(holdOf(1n, { holdId: holdIdOf("warm") }));
  const isCut = proxy.cutNext(cut, marker);
  const given = [ledger.hold(holdOf(10n)), ledger.hold(holdOf(5n, { holdId: holdIdOf("h2") }))];
  await isCut;
  expect(await Promise.all(given)).toMatchObject([{ granted: 10n }, { granted: 5n }]);
  expect(await ledger.balances(WALLET)).toMatchObject({ posted: 100n, held: 17n });
  await ledger.close();
  await proxy.close();
});

test("two stores that take turns on one database decide like the rules alone", async () => {
  const { url, drop } = await createTestDatabase();
  const databases = [await openPostgres(url), await openPostgres(url)];
  const clock = { nowMs: NOON_MS };
  const stores = databases.map((database) => createPostgresStore({ database, now: () => clock.nowMs }));
  let run = 0;
  await fc.assert(
    // Long turns of one store: a wallet that changes hands is decided under the lock for a while.
    fc.asyncProperty(steps, fc.infiniteStream(fc.nat(9)), async (given, turns) => {
      let turn = 0;
      const store = {
        transact(ids, batch) {
          if (turns.next().value === 0) turn = 1 - turn;
          return stores[turn]?.transact(ids, batch);
        },
      } satisfies Pick<Store, "transact">;
      const batches = batchesOf(given);
      run += 1;
      // Safe because running batches needs no more of a store than its clock and its transactions.
      const opened = { store: store as Store, clock } as Parameters<typeof runAll>[0];
      const completions = await runAll(opened, batches, { run: `run${run}-`, isWhole: false });
      expectSame(completions, decideAll(batches), batches);
    }),
    { numRuns: 40 },
  );
  for (const store of stores) await store.close();
  for (const database of databases) await database.close();
  await drop();
});
