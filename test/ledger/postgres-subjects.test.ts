// What spends for the first time in a process, on PostgreSQL: its limits and counters are read without a lock.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openPostgresEnv, type PostgresEnv } from "./postgres-env.ts";
import { errorCodeOf, FACTS, holdIdOf, holdOf, NOON_MS, WALLET } from "./samples.ts";

const HOUR_MS = 3_600_000;

let env: PostgresEnv;
let nowMs = NOON_MS;

beforeEach(async () => {
  nowMs = NOON_MS;
  env = await openPostgresEnv(1_000_000n, { now: () => nowMs });
  const template = { walletId: WALLET, keyId: undefined, limitId: "each", each: "end_user" } as const;
  await env.ledger.setSpendLimit({ ...template, period: "day", amount: 100n });
});

afterEach(async () => {
  const findings = await env.audit();
  await env.close();
  expect(findings).toEqual([]);
});

const scopesOf = (user: string) => [{ kind: "end_user", id: user } as const];
const hold = (name: string, user: string, amount = 1n, ledger: Ledger = env.ledger) =>
  ledger.hold(holdOf(amount, { holdId: holdIdOf(name), scopes: scopesOf(user) }));
const settle = (name: string, amount: bigint) =>
  env.ledger.settle({ walletId: WALLET, holdId: holdIdOf(name), amount, facts: FACTS });

/** Whether commands were decided from memory: under the lock, the last statement of a connection ends a transaction. */
async function isFromMemory(run: () => Promise<unknown>): Promise<boolean> {
  const [{ since }] = await env.client.unsafe("SELECT clock_timestamp()::text AS since");
  await run();
  // A connection that opened a database may be listed for a while after its end.
  const ended: readonly unknown[] = await env.client.unsafe(
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND query IN ('COMMIT', 'ROLLBACK') AND query_start > $1::text::timestamptz`,
    [since],
  );
  return ended.length === 0;
}

/** Resolves when so many statements of the database wait for locks. */
async function untilWaiting(count: number): Promise<void> {
  const waiting = `SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await env.client.unsafe(waiting)).length < count) await Bun.sleep(2);
}

async function countersOf(limitId: string): Promise<readonly unknown[]> {
  return env.client.unsafe(
    "SELECT used, held FROM limit_counters WHERE limit_id = $1 AND used + held > 0 ORDER BY period_start_ms",
    [limitId],
  );
}

describe("a subject that is new to a process", () => {
  test("is decided from memory, with the counter that other processes have made", async () => {
    await hold("h1", "alice", 40n);
    await settle("h1", 30n);
    const other = await env.openAnother();
    await hold("warm", "bob", 1n, other);
    expect(await isFromMemory(() => hold("h2", "alice", 50n, other))).toBe(true);
    expect(await countersOf("each\nalice")).toEqual([{ used: 30n, held: 50n }]);
    expect(await errorCodeOf(hold("h3", "alice", 21n, other))).toBe("spending_limit_exceeded");
  });

  test("is decided from memory when a limit of its own binds it", async () => {
    const { ledger } = env;
    const own = { walletId: WALLET, keyId: undefined, limitId: "own", amount: 20n } as const;
    await ledger.setSpendLimit({ ...own, scope: { kind: "end_user", id: "carol" }, period: "total" });
    expect(await isFromMemory(() => hold("h1", "carol", 15n))).toBe(true);
    expect(await countersOf("own")).toEqual([{ used: 0n, held: 15n }]);
    expect(await errorCodeOf(hold("h2", "carol", 6n))).toBe("spending_limit_exceeded");
    expect(await isFromMemory(() => hold("h3", "dave", 90n))).toBe(true);
  });

  test("goes on with the window that another process has begun", async () => {
    const window = { walletId: WALLET, keyId: undefined, limitId: "window", each: "end_user" } as const;
    await env.ledger.setSpendLimit({ ...window, period: "5h", amount: 60n });
    await hold("h1", "alice", 40n);
    await env.client.unsafe("UPDATE holds SET limits = replace(limits::text, $1, $2)::json", [
      `${NOON_MS}]`,
      `${NOON_MS - 1000}]`,
    ]);
    await env.client.unsafe("UPDATE limit_counters SET period_start_ms = $1 WHERE period_start_ms = $2", [
      NOON_MS - 1000,
      NOON_MS,
    ]);
    const other = await env.openAnother();
    await hold("warm", "bob", 1n, other);
    expect(await isFromMemory(() => hold("h2", "alice", 20n, other))).toBe(true);
    expect(await countersOf("window\nalice\n")).toEqual([{ used: 0n, held: 60n }]);
    expect(await errorCodeOf(hold("h3", "alice", 1n, other))).toBe("spending_limit_exceeded");
  });

  test("goes on with its window while the clock of the database is back before it began", async () => {
    const window = { walletId: WALLET, keyId: undefined, limitId: "window", each: "end_user" } as const;
    await env.ledger.setSpendLimit({ ...window, period: "5h", amount: 60n });
    await hold("h1", "alice", 40n);
    await settle("h1", 40n);
    const other = await env.openAnother();
    await hold("warm", "bob", 1n, other);
    nowMs -= 4 * HOUR_MS;
    expect(await isFromMemory(() => hold("h2", "alice", 15n, other))).toBe(true);
    await settle("h2", 15n);
    expect(await errorCodeOf(hold("h3", "alice", 6n))).toBe("spending_limit_exceeded");
    nowMs += 7 * HOUR_MS;
    await hold("h3", "alice", 5n);
    expect(await errorCodeOf(hold("h4", "alice", 1n, other))).toBe("spending_limit_exceeded");
    expect(await countersOf("window\nalice\n")).toEqual([{ used: 55n, held: 5n }]);
  });

  test("is decided under the lock when another process counts it after the reading", async () => {
    const other = await env.openAnother();
    let first: Promise<unknown> | undefined;
    let second: Promise<string> | undefined;
    await env.client.begin(async (lock) => {
      await lock.unsafe("SELECT 1 FROM wallets FOR UPDATE");
      first = hold("h1", "alice", 60n, other);
      await untilWaiting(1);
      second = errorCodeOf(hold("h2", "alice", 60n));
      await untilWaiting(2);
    });
    expect(await first).toMatchObject({ granted: 60n });
    expect(await second).toBe("spending_limit_exceeded");
    expect(await countersOf("each\nalice")).toEqual([{ used: 0n, held: 60n }]);
  });
});

test("four processes that race for new subjects grant each of them its limit, and no more", async () => {
  const ledgers = [env.ledger, await env.openAnother(), await env.openAnother(), await env.openAnother()];
  const granted = new Map<string, number>();
  const race = async (ledger: Ledger, name: string, user: string) => {
    await hold(name, user, 25n, ledger).then(
      () => granted.set(user, (granted.get(user) ?? 0) + 1),
      () => undefined,
    );
  };
  for (let round = 0; round < 12; round++) {
    const users = Array.from({ length: 8 }, (_, i) => `u${round}-${i}`);
    // The others take part now and then, so that the first decides from memory in between.
    const racing = round % 3 === 0 ? ledgers : ledgers.slice(0, 2);
    const races = users.flatMap((user) =>
      racing.flatMap((ledger, i) =>
        Array.from({ length: 3 }, (_, j) => race(ledger, `${user}-${i}-${j}`, user)),
      ),
    );
    await Promise.all(races);
  }
  expect(new Set(granted.values())).toEqual(new Set([4]));
  expect(granted.size).toBe(96);
});

test("limits that have less left than a whole batch takes are decided from memory", async () => {
  await hold("warm", "bob");
  const users = Array.from({ length: 40 }, (_, i) => `u${i}`);
  expect(await isFromMemory(() => Promise.all(users.map((user) => hold(user, user, 50n))))).toBe(true);
  expect(await isFromMemory(() => Promise.all(users.map((user) => settle(user, 20n))))).toBe(true);
  expect(await countersOf("each\nu7")).toEqual([{ used: 20n, held: 0n }]);
});
