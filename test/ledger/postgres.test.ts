import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { SQL } from "bun";
import { ROW_TYPES } from "../../src/ledger/postgres/write-statements.ts";
import { openPostgresBooks, type PostgresBooks } from "./postgres-env.ts";
import { FACTS, holdIdOf, holdOf, NOON_MS, refusalOf, WALLET } from "./samples.ts";

// The first test may have to start a server.

let books: PostgresBooks;

beforeEach(async () => {
  books = await openPostgresBooks(100n);
});

afterEach(async () => {
  const findings = await books.audit();
  await books.close();
  expect(findings).toEqual([]);
});

/** Runs something that has to wait for a row which `other` has locked; then `other` commits. */
async function whileLocked<Result>(
  run: () => Promise<Result>,
  change: (other: SQL) => Promise<unknown>,
  lock = `SELECT 1 FROM wallets WHERE wallet_id = '${WALLET}' FOR UPDATE`,
): Promise<Result> {
  let waiting: Promise<Result> | undefined;
  await books.client.begin(async (other) => {
    await other.unsafe(lock);
    waiting = run();
    waiting.catch(() => undefined);
    await untilSomebodyWaits();
    await change(other);
  });
  if (!waiting) throw new Error("nothing was run");
  return waiting;
}

async function untilSomebodyWaits(): Promise<void> {
  const waiting = `SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await books.client.unsafe(waiting)).length === 0) await Bun.sleep(2);
}

/** The transactions that last wrote the rows of a table. */
async function writersOf(table: string): Promise<readonly string[]> {
  const rows: { writer: string }[] = await books.client.unsafe(
    `SELECT DISTINCT xmin::text AS writer FROM ${table} ORDER BY 1`,
  );
  return rows.map(({ writer }) => writer);
}

const hold = (name: string, amount = 1n) => books.ledger.hold(holdOf(amount, { holdId: holdIdOf(name) }));

describe("a batch that waited for a wallet", () => {
  test("sees the balance that was committed while it waited", async () => {
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

  test("sees the limit that was committed while it waited", async () => {
    const refused = await whileLocked(
      () => refusalOf(hold("h1", 10n)),
      (other) =>
        other.unsafe(`INSERT INTO spend_limits VALUES ('${WALLET}', 'l1', 'k1', 'total', NULL, 5, NULL)`),
    );
    expect(refused).toBe("spending_limit_exceeded");
  });

  test("sees the counter of a limit that was committed while it waited", async () => {
    const limit = { walletId: WALLET, limitId: "l1", keyId: "k1", period: "total", amount: 50n } as const;
    await books.ledger.setSpendLimit(limit);
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

  test("takes the commands that came while it waited", async () => {
    const held: Promise<unknown>[] = [];
    await whileLocked(
      async () => held.push(hold("h0")),
      async () => {
        for (let i = 1; i < 50; i++) held.push(hold(`h${i}`));
      },
    );
    await Promise.all(held);
    expect(await books.ledger.balances(WALLET)).toMatchObject({ held: 50n });
    expect(await writersOf("holds")).toHaveLength(1);
  });

  test("goes on also where the database's default is to refuse who waited", async () => {
    const name = new URL(books.url).pathname.slice(1);
    await books.client.unsafe(
      `ALTER DATABASE "${name}" SET default_transaction_isolation = 'repeatable read'`,
    );
    const other = await books.openAnother({ busyMaxMs: 0 });
    const granted = await whileLocked(
      () => other.hold(holdOf(1n)),
      (first) => first.unsafe("UPDATE wallets SET posted = posted"),
    );
    expect(granted).toMatchObject({ granted: 1n });
  });

  test("is tried again when it waited too long, until that was long enough", async () => {
    const impatient = await books.openAnother({ busyMaxMs: 300 });
    const patient = await whileLocked(
      () => hold("h1"),
      async () => expect(await refusalOf(impatient.hold(holdOf(1n)))).toBe("unavailable"),
    );
    expect(patient).toMatchObject({ replayed: false });
    expect(await impatient.hold(holdOf(1n))).toMatchObject({ replayed: true });
  });

  test("has locked those before it in the order of their ids, and none after it", async () => {
    for (const walletId of ["a", "b", "c"]) await books.ledger.createWallet(walletId);
    const free = "SELECT wallet_id FROM wallets ORDER BY wallet_id FOR UPDATE SKIP LOCKED";
    const posted = (walletId: string) => books.ledger.topUp({ walletId, topUpId: "t", amount: 1n });
    await whileLocked(
      () => Promise.all(["c", "b", "a"].map(posted)),
      async () => {
        const rows: { wallet_id: string }[] = await books.client.begin((third) => third.unsafe(free));
        expect(rows.map(({ wallet_id }) => wallet_id)).toEqual([WALLET, "c"]);
      },
      "SELECT 1 FROM wallets WHERE wallet_id = 'b' FOR UPDATE",
    );
  });
});

describe("a hold that a limit has no room for", () => {
  const limitTo = (amount: bigint) =>
    books.ledger.setSpendLimit({ walletId: WALLET, limitId: "l1", keyId: "k1", period: "total", amount });

  test("takes the room of one that is past its time", async () => {
    await limitTo(50n);
    await hold("h1", 45n);
    await books.client.unsafe("UPDATE holds SET expires_at_ms = 0");
    expect(await hold("h2", 45n)).toMatchObject({ granted: 45n, balances: { held: 45n } });
  });

  test("takes it too when the limit was lowered in the same batch", async () => {
    await limitTo(100n);
    await hold("h1", 45n);
    await books.client.unsafe("UPDATE holds SET expires_at_ms = 0");
    const [, granted] = await Promise.all([limitTo(50n), hold("h2", 45n)]);
    expect(granted).toMatchObject({ granted: 45n, balances: { held: 45n } });
  });
});

test("a wallet that two processes create at once is created once, and both go on", async () => {
  const created = await whileLocked(
    () =>
      Promise.all([
        books.ledger.createWallet("new"),
        books.ledger.topUp({ walletId: "new", topUpId: "t1", amount: 5n }),
        books.ledger.createWallet("newer"),
      ]),
    async () => undefined,
    "INSERT INTO wallets VALUES ('new', 0, 0, 7, 'active', 0, 0)",
  );
  expect(created.map((answer) => ("balances" in answer ? answer.balances : answer))).toEqual([
    { posted: 0n, held: 0n, available: 7n },
    { posted: 5n, held: 0n, available: 12n },
    { posted: 0n, held: 0n, available: 0n },
  ]);
});

test("a wallet that is created alone, while somebody else creates it, is found", async () => {
  const created = await whileLocked(
    () => books.ledger.createWallet("new"),
    async () => undefined,
    "INSERT INTO wallets VALUES ('new', 0, 0, 7, 'active', 0, 0)",
  );
  expect(created).toEqual({ posted: 0n, held: 0n, available: 7n });
});

test("several processes that create the same wallets at once all succeed", async () => {
  const ledgers = await Promise.all(Array.from({ length: 4 }, () => books.openAnother()));
  const names = Array.from({ length: 30 }, (_, i) => `w${i}`);
  const created = ledgers.flatMap((ledger, i) =>
    (i % 2 === 0 ? names : names.toReversed()).map((name) => ledger.createWallet(name)),
  );
  expect(await Promise.all(created)).toEqual(Array(120).fill({ posted: 0n, held: 0n, available: 0n }));
});

test("a batch of refusals and repetitions writes nothing", async () => {
  await hold("h1", 60n);
  const before = [await writersOf("wallets"), await writersOf("holds")];
  expect(await refusalOf(hold("h2", 60n))).toBe("balance_on_hold");
  expect(await hold("h1", 60n)).toMatchObject({ replayed: true });
  expect([await writersOf("wallets"), await writersOf("holds")]).toEqual(before);
});

test("a batch that locks one wallet at most commits each by itself", async () => {
  const narrow = await books.openAnother({ walletsMax: 1 });
  await Promise.all(["a", "b", "c"].map((walletId) => narrow.createWallet(walletId)));
  expect(await writersOf("wallets")).toHaveLength(4);
});

test("a command past its deadline is refused when its turn comes, and not decided", async () => {
  const late = books.ledger.hold(holdOf(1n), { deadlineMs: NOON_MS - 1 });
  const inTime = books.ledger.hold(holdOf(2n, { holdId: holdIdOf("h2") }), { deadlineMs: NOON_MS });
  expect(await refusalOf(late)).toBe("deadline_exceeded");
  expect(await inTime).toMatchObject({ balances: { held: 2n } });
});

test("texts of every kind come back as they were given", async () => {
  const text = `"quoted" \\ back {a,b} NULL 'x' $1 – ü 😀`;
  const facts = { surface: text, model: "null" };
  const metadata = { [text]: { deep: [1.5, null, text] }, "\u0000": "\ud800" };
  await books.ledger.hold(holdOf(5n, { keyId: "NULL", facts, metadata }));
  const attempts = [{ upstream: text, status: 200, ms: 1 }];
  await books.ledger.settle({
    walletId: WALLET,
    holdId: holdIdOf("h1"),
    amount: 5n,
    facts: { ...FACTS, upstream: text, upstreamModel: "", attempts },
  });
  expect(await books.ledger.receipt(WALLET, holdIdOf("h1"))).toMatchObject({
    keyId: "NULL",
    request: facts,
    metadata,
    outcome: { upstream: text, upstreamModel: "", attempts },
  });
});

test("the row types of the database are those that batches are sent in", async () => {
  const rows: { type: string; name: string; of: string }[] = await books.client.unsafe(
    `SELECT c.relname::text AS type, a.attname::text AS name, format_type(a.atttypid, NULL) AS of
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relkind = 'c' ORDER BY c.relname, a.attnum`,
  );
  const stored = Object.groupBy(rows, ({ type }) => type);
  const columns = Object.entries(stored).map(([type, fields = []]) => [
    type,
    fields.map(({ name, of }) => [name, of]),
  ]);
  expect(Object.fromEntries(columns)).toEqual(ROW_TYPES);
});

describe("a database that refuses rows", () => {
  const trigger = (table: string, when: string, body: string) =>
    books.client.unsafe(`CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
      CREATE TRIGGER poison BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION poison()`);

  test("keeps all but the one command of a batch that it refuses", async () => {
    await trigger("holds", `new.hold_id = '${holdIdOf("h37")}'`, "RAISE EXCEPTION 'poison';");
    const given = Array.from({ length: 90 }, (_, i) => hold(`h${i}`));
    const results = await Promise.allSettled(given);
    expect(results.flatMap(({ status }, i) => (status === "rejected" ? [i] : []))).toEqual([37]);
    expect(await refusalOf(given[37] ?? Promise.resolve())).toBe("unavailable");
    expect(await books.ledger.balances(WALLET)).toMatchObject({ held: 89n });
  });

  test("changes nothing when a row that was read is not there to be written", async () => {
    await trigger("wallets", "true", "RETURN NULL;");
    expect(await refusalOf(hold("h1"))).toBe("unavailable");
    expect(await books.ledger.receipt(WALLET, holdIdOf("h1"))).toBeUndefined();
  });

  test("is not quoted in the error: its words may be somebody's data", async () => {
    await trigger("holds", "true", "RAISE EXCEPTION 'secret %', new.model;");
    const refused = await hold("h1").catch((error: unknown) => error);
    expect(Bun.inspect(refused)).toContain("SQLSTATE P0001");
    expect(Bun.inspect(refused)).not.toContain("secret");
  });
});

test("several who ask at once whether the books can be read all hear that they can", async () => {
  const pings = await Promise.allSettled(Array.from({ length: 4 }, () => books.ledger.ping()));
  expect(pings.map(({ status }) => status)).toEqual(Array(4).fill("fulfilled"));
});
