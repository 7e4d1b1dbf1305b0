import { afterEach, beforeEach, describe, expect, mock, test } from "bun:test";
import type { SQL } from "bun";
import { ROW_TYPES } from "../../src/ledger/postgres/write-statements.ts";
import { until } from "../support/until.ts";
import { openPostgresEnv, type PostgresEnv } from "./postgres-env.ts";
import { errorCodeOf, FACTS, holdIdOf, holdOf, NOON_MS, WALLET } from "./samples.ts";

let env: PostgresEnv;

beforeEach(async () => {
  env = await openPostgresEnv(100n);
});

afterEach(async () => {
  const findings = await env.audit();
  await env.close();
  expect(findings).toEqual([]);
});

/**
 * Runs `run` while another session holds `lock`, waits until it is blocked, then runs `change` and commits.
 */
async function whileLocked<Result>(
  run: () => Promise<Result>,
  change: (other: SQL) => Promise<unknown>,
  lock = `SELECT 1 FROM wallets WHERE wallet_id = '${WALLET}' FOR UPDATE`,
): Promise<Result> {
  let waiting: Promise<Result> | undefined;
  await env.client.begin(async (other) => {
    await other.unsafe(lock);
    waiting = run();
    waiting.catch(() => undefined);
    await untilBlocked();
    await change(other);
  });
  if (!waiting) throw new Error("run was not called");
  return waiting;
}

async function untilBlocked(): Promise<void> {
  const waiting = `SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await env.client.unsafe(waiting)).length === 0) await Bun.sleep(2);
}

/** Returns the transactions that last wrote the rows of a table. */
async function writersOf(table: string): Promise<readonly string[]> {
  const rows: { writer: string }[] = await env.client.unsafe(
    `SELECT DISTINCT xmin::text AS writer FROM ${table} ORDER BY 1`,
  );
  return rows.map(({ writer }) => writer);
}

const hold = (name: string, amount = 1n) => env.ledger.hold(holdOf(amount, { holdId: holdIdOf(name) }));

describe("a batch that waited for a wallet", () => {
  test("reads the balance that was committed while it waited", async () => {
    const topUp = `INSERT INTO transfers VALUES ('${WALLET}', 2, 't2', 1, 3, 1, 1000, 1100, NULL, 0)`;
    const granted = await whileLocked(
      () => hold("h1", 1_000n),
      async (other) => {
        await other.unsafe("UPDATE wallets SET posted = 1100, last_seq = 2");
        await other.unsafe(topUp);
      },
    );
    expect(granted.balances).toEqual({ posted: 1100n, held: 1000n, available: 100n });
  });

  test("reads the limit that was committed while it waited", async () => {
    const declined = await whileLocked(
      () => errorCodeOf(hold("h1", 10n)),
      (other) =>
        other.unsafe(`INSERT INTO spend_limits VALUES ('${WALLET}', 'l1', 'k1', 'total', NULL, 5, NULL)`),
    );
    expect(declined).toBe("spending_limit_exceeded");
  });

  test("reads the limit counter that was committed while it waited", async () => {
    const limit = { walletId: WALLET, limitId: "l1", keyId: "k1", period: "total", amount: 50n } as const;
    await env.ledger.setSpendLimit(limit);
    await hold("h1", 45n);
    const granted = await whileLocked(
      () => hold("h2", 45n),
      async (other) => {
        await other.unsafe("UPDATE limit_counters SET held = 0");
        await other.unsafe("UPDATE wallets SET held = 0");
        await other.unsafe("UPDATE holds SET state = 'released'");
      },
    );
    expect(granted).toMatchObject({ granted: 45n, balances: { held: 45n } });
  });

  test("collects the commands that arrived while it waited", async () => {
    const other = await env.openAnother();
    const held: Promise<unknown>[] = [];
    const take = (i: number) => held.push(other.hold(holdOf(1n, { holdId: holdIdOf(`h${i}`) })));
    await whileLocked(
      async () => take(0),
      async () => {
        for (let i = 1; i < 50; i++) take(i);
      },
    );
    await Promise.all(held);
    expect(await env.ledger.balances(WALLET)).toMatchObject({ held: 50n });
    expect(await writersOf("holds")).toHaveLength(1);
  });

  test("succeeds when the database's default isolation level is repeatable read", async () => {
    const name = new URL(env.url).pathname.slice(1);
    await env.client.unsafe(`ALTER DATABASE "${name}" SET default_transaction_isolation = 'repeatable read'`);
    const failed = mock();
    const other = await env.openAnother({ observer: { committed() {}, synced() {}, failed } });
    const granted = await whileLocked(
      () => other.hold(holdOf(1n)),
      (first) => first.unsafe("UPDATE wallets SET posted = posted"),
    );
    expect(granted).toMatchObject({ granted: 1n });
    expect(failed).not.toHaveBeenCalled();
  });

  test("is tried again after a lock timeout, until busyMaxMs", async () => {
    const impatient = await env.openAnother({ busyMaxMs: 300, isImpatient: true });
    const patient = await env.openAnother();
    const held = await whileLocked(
      () => patient.hold(holdOf(1n)),
      async () => expect(await errorCodeOf(impatient.hold(holdOf(1n)))).toBe("unavailable"),
    );
    expect(held).toMatchObject({ replayed: false });
    expect(await impatient.hold(holdOf(1n))).toMatchObject({ replayed: true });
  });

  test("has locked the wallets with smaller ids and none with larger ids", async () => {
    for (const walletId of ["a", "b", "c"]) await env.ledger.createWallet(walletId);
    const free = "SELECT wallet_id FROM wallets ORDER BY wallet_id FOR UPDATE SKIP LOCKED";
    const posted = (walletId: string) => env.ledger.topUp({ walletId, topUpId: "t", amount: 1n });
    await whileLocked(
      () => Promise.all(["c", "b", "a"].map(posted)),
      async () => {
        await until(async () => {
          const rows: { wallet_id: string }[] = await env.client.begin((third) => third.unsafe(free));
          return Bun.deepEquals(
            rows.map(({ wallet_id }) => wallet_id),
            [WALLET, "c"],
          );
        });
      },
      "SELECT 1 FROM wallets WHERE wallet_id = 'b' FOR UPDATE",
    );
  });
});

describe("a hold above the headroom of a limit", () => {
  const limitTo = (amount: bigint) =>
    env.ledger.setSpendLimit({ walletId: WALLET, limitId: "l1", keyId: "k1", period: "total", amount });

  test("expires a hold that is past its time", async () => {
    await limitTo(50n);
    await hold("h1", 45n);
    await env.client.unsafe("UPDATE holds SET expires_at_ms = 0");
    expect(await hold("h2", 45n)).toMatchObject({ granted: 45n, balances: { held: 45n } });
  });

  test("expires it also when the limit was lowered in the same batch", async () => {
    await limitTo(100n);
    await hold("h1", 45n);
    await env.client.unsafe("UPDATE holds SET expires_at_ms = 0");
    const [, granted] = await Promise.all([limitTo(50n), hold("h2", 45n)]);
    expect(granted).toMatchObject({ granted: 45n, balances: { held: 45n } });
  });
});

describe("a daily limit", () => {
  const dayMs = 86_400_000;
  const todayMs = Math.floor(NOON_MS / dayMs) * dayMs;
  const limit = { walletId: WALLET, limitId: "l1", keyId: "k1", period: "day", amount: 50n } as const;
  const use = async (periodStartMs: number, used: bigint) => {
    const row = [WALLET, periodStartMs, used];
    await env.client.unsafe("INSERT INTO limit_counters VALUES ($1, 'l1', $2, $3, 0)", row);
    // As every batch does that changes a row of a wallet.
    await env.client.unsafe("UPDATE wallets SET posted = posted");
  };
  const clearCounters = () => env.client.unsafe("DELETE FROM limit_counters WHERE held = 0");

  test("is unused on a day after the newest day that has a counter", async () => {
    await env.ledger.setSpendLimit(limit);
    await use(todayMs - dayMs, 45n);
    expect(await hold("h1", 50n)).toMatchObject({ granted: 50n });
    await clearCounters();
  });

  test("keeps its use of today when a later day has a counter, because the clock ran ahead", async () => {
    await env.ledger.setSpendLimit(limit);
    await use(todayMs + dayMs, 0n);
    await use(todayMs, 45n);
    expect(await errorCodeOf(hold("h1", 10n))).toBe("spending_limit_exceeded");
    await clearCounters();
  });
});

test("a wallet that two processes create at once is created once, and both batches succeed", async () => {
  const created = await whileLocked(
    () =>
      Promise.all([
        env.ledger.createWallet("new"),
        env.ledger.topUp({ walletId: "new", topUpId: "t1", amount: 5n }),
        env.ledger.createWallet("newer"),
      ]),
    async () => undefined,
    "INSERT INTO wallets VALUES ('new', 0, 0, 7, 'active', 0, 0)",
  );
  expect(created.map((result) => ("balances" in result ? result.balances : result))).toEqual([
    { posted: 0n, held: 0n, available: 7n },
    { posted: 5n, held: 0n, available: 12n },
    { posted: 0n, held: 0n, available: 0n },
  ]);
});

test("a lone creation of a wallet succeeds while another session creates it", async () => {
  const created = await whileLocked(
    () => env.ledger.createWallet("new"),
    async () => undefined,
    "INSERT INTO wallets VALUES ('new', 0, 0, 7, 'active', 0, 0)",
  );
  expect(created).toEqual({ posted: 0n, held: 0n, available: 7n });
});

test("several processes that create the same wallets at once all succeed", async () => {
  const ledgers = await Promise.all(Array.from({ length: 4 }, () => env.openAnother()));
  const names = Array.from({ length: 30 }, (_, i) => `w${i}`);
  const created = ledgers.flatMap((ledger, i) =>
    (i % 2 === 0 ? names : names.toReversed()).map((name) => ledger.createWallet(name)),
  );
  expect(await Promise.all(created)).toEqual(Array(120).fill({ posted: 0n, held: 0n, available: 0n }));
});

test("a batch of declines and replays writes nothing", async () => {
  await hold("h1", 60n);
  const before = [await writersOf("wallets"), await writersOf("holds")];
  expect(await errorCodeOf(hold("h2", 60n))).toBe("balance_on_hold");
  expect(await hold("h1", 60n)).toMatchObject({ replayed: true });
  expect([await writersOf("wallets"), await writersOf("holds")]).toEqual(before);
});

test("with walletsMax 1, each wallet is committed by itself", async () => {
  const narrow = await env.openAnother({ walletsMax: 1 });
  await Promise.all(["a", "b", "c"].map((walletId) => narrow.createWallet(walletId)));
  expect(await writersOf("wallets")).toHaveLength(4);
});

test("a command past its deadline is declined with deadline_exceeded and not decided", async () => {
  const late = env.ledger.hold(holdOf(1n), { deadlineMs: NOON_MS - 1 });
  const inTime = env.ledger.hold(holdOf(2n, { holdId: holdIdOf("h2") }), { deadlineMs: NOON_MS });
  expect(await errorCodeOf(late)).toBe("deadline_exceeded");
  expect(await inTime).toMatchObject({ balances: { held: 2n } });
});

test("texts with special characters are stored unchanged", async () => {
  const text = `"quoted" \\ back {a,b} NULL 'x' $1 – ü 😀`;
  const facts = { surface: text, model: "null" };
  const metadata = { [text]: { deep: [1.5, null, text] }, "\u0000": "\ud800" };
  await env.ledger.hold(holdOf(5n, { keyId: "NULL", facts, metadata }));
  const attempts = [{ upstream: text, status: 200, ms: 1 }];
  await env.ledger.settle({
    walletId: WALLET,
    holdId: holdIdOf("h1"),
    amount: 5n,
    facts: { ...FACTS, upstream: text, upstreamModel: "", attempts },
  });
  expect(await env.ledger.receipt(WALLET, holdIdOf("h1"))).toMatchObject({
    keyId: "NULL",
    request: facts,
    metadata,
    outcome: { upstream: text, upstreamModel: "", attempts },
  });
});

test("the row types of the database equal those of the write statements", async () => {
  const rows: { type: string; name: string; of: string }[] = await env.client.unsafe(
    `SELECT c.relname::text AS type, a.attname::text AS name, format_type(a.atttypid, NULL) AS of
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relkind = 'c' ORDER BY c.relname, a.attnum`,
  );
  // The types of versions before, for replicas that still use them.
  const old = [
    "batch_hold_ending",
    "batch_hold_end",
    "batch_hold",
    "batch_limit",
    "batch_wallet",
    "batch_transfer",
  ];
  const stored = Object.groupBy(
    rows.filter(({ type }) => !old.includes(type)),
    ({ type }) => type,
  );
  const columns = Object.entries(stored).map(([type, fields = []]) => [
    type,
    fields.map(({ name, of }) => [name, of]),
  ]);
  expect(Object.fromEntries(columns)).toEqual(ROW_TYPES);
});

describe("a database that rejects rows", () => {
  const trigger = (table: string, when: string, body: string) =>
    env.client.unsafe(`CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
      CREATE TRIGGER poison BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION poison()`);

  test("stores all commands of a batch but the rejected one", async () => {
    await trigger("holds", `new.hold_id = '${holdIdOf("h37")}'`, "RAISE EXCEPTION 'poison';");
    const given = Array.from({ length: 90 }, (_, i) => hold(`h${i}`));
    const results = await Promise.allSettled(given);
    expect(results.flatMap(({ status }, i) => (status === "rejected" ? [i] : []))).toEqual([37]);
    expect(await errorCodeOf(given[37] ?? Promise.resolve())).toBe("unavailable");
    expect(await env.ledger.balances(WALLET)).toMatchObject({ held: 89n });
  });

  test("changes nothing when a row that was read cannot be updated", async () => {
    await trigger("wallets", "true", "RETURN NULL;");
    expect(await errorCodeOf(hold("h1"))).toBe("unavailable");
    expect(await env.ledger.receipt(WALLET, holdIdOf("h1"))).toBeUndefined();
  });

  test("is not quoted in the error, because its message may have row values", async () => {
    await trigger("holds", "true", "RAISE EXCEPTION 'secret %', new.model;");
    const error = await hold("h1").catch((thrown: unknown) => thrown);
    expect(Bun.inspect(error)).toContain("SQLSTATE P0001");
    expect(Bun.inspect(error)).not.toContain("secret");
  });
});

test("concurrent pings all succeed", () =>
  // A busy machine may answer later than a ping waits.
  until(async () => {
    const pings = await Promise.allSettled(Array.from({ length: 4 }, () => env.ledger.ping()));
    return pings.every(({ status }) => status === "fulfilled");
  }));
