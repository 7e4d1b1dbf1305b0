import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readPostgresUrl } from "../../src/db/postgres/connection.ts";
import { openPostgres } from "../../src/db/postgres/database.ts";
import { MIGRATIONS } from "../../src/db/postgres/migrate.ts";
import journal from "../../src/db/postgres/migrations/meta/_journal.json";
import { ensurePartitions } from "../../src/db/postgres/partitions.ts";
import { accounts, apiKeys } from "../../src/db/postgres/schema.ts";
import { holdIdOf } from "../ledger/samples.ts";
import { createEmptyDatabase, type TestDatabase } from "../support/test-database.ts";
import { until } from "../support/until.ts";

// The first test may start a server.

let empty: TestDatabase;

beforeEach(async () => {
  empty = await createEmptyDatabase();
});

afterEach(() => empty.drop());

test("every generated migration is applied, in the order of its journal", async () => {
  const generated = journal.entries.map(({ tag }) =>
    Bun.file(`${import.meta.dir}/../../src/db/postgres/migrations/${tag}.sql`).text(),
  );
  expect([...MIGRATIONS]).toEqual(await Promise.all(generated));
});

test("four replicas that start together on an empty database all find the whole schema", async () => {
  const databases = await Promise.all(Array.from({ length: 4 }, () => openPostgres(empty.url)));
  for (const { client, close } of databases) {
    expect(await tablesOf(client)).toEqual(TABLES);
    expect([...(await client.unsafe("SELECT version FROM schema_version"))]).toEqual([
      { version: MIGRATIONS.length },
    ]);
    await close();
  }
});

test("a reopened database keeps its rows, with the types of SQLite", async () => {
  const first = await openPostgres(empty.url);
  await first.db.insert(accounts).values({ id: "1", name: "acme", createdAtMs: 5 });
  const key = { id: "2", accountId: "1", name: "k", hint: "sk-tg-1234", digest: "d", createdAtMs: 6 };
  await first.db.insert(apiKeys).values({ ...key, models: ["a", 'b"\\'], allowsClamp: true });
  await first.close();
  const again = await openPostgres(empty.url);
  const unset = {
    email: null,
    markup: null,
    endUsers: null,
    tagKeys: null,
    hasScopes: false,
    billing: null,
    planModels: null,
    planMarkup: null,
  };
  expect(await again.db.select().from(accounts)).toEqual([
    { id: "1", name: "acme", state: "active", createdAtMs: 5, version: 1, ...unset },
  ]);
  expect(await again.db.select().from(apiKeys)).toMatchObject([
    { ...key, models: ["a", 'b"\\'], allowsClamp: true, expiresAtMs: null },
  ]);
  await again.close();
});

test("texts sort by their bytes, whatever the collation of the server", async () => {
  const { db, close } = await openPostgres(empty.url);
  const names = ["b", "A", "a", "B", "Ä", "_"];
  for (const name of names) await db.insert(accounts).values({ id: name, name, createdAtMs: 5 });
  const sorted = await db.select({ name: accounts.name }).from(accounts).orderBy(accounts.name);
  expect(sorted.map(({ name }) => name)).toEqual(["A", "B", "_", "a", "b", "Ä"]);
  await close();
});

test("a database of a newer program is rejected and left untouched", async () => {
  const { client, close } = await openPostgres(empty.url);
  await client.unsafe("UPDATE schema_version SET version = 99");
  await expect(openPostgres(empty.url)).rejects.toThrow(
    `at version 99, this program knows ${MIGRATIONS.length}`,
  );
  expect([...(await client.unsafe("SELECT version FROM schema_version"))]).toEqual([{ version: 99 }]);
  await close();
});

test("a transfer cannot be changed, deleted or truncated", async () => {
  const { client, close } = await openPostgres(empty.url);
  for (const statement of ["UPDATE transfers SET seq = 1", "DELETE FROM transfers", "TRUNCATE transfers"]) {
    await expect(client.unsafe(statement).execute()).rejects.toThrow("append-only");
  }
  await close();
});

describe("opening a database fails without printing the password", () => {
  const unusable: [string, (url: URL) => void][] = [
    ["nothing listens", (url) => (url.port = "1")],
    ["the password is wrong", (url) => (url.password = "hunter2")],
    ["the database does not exist", (url) => (url.pathname = "/nothing")],
    ["the server has no TLS", (url) => url.searchParams.set("sslmode", "require")],
  ];

  test.each(unusable)("when %s", async (_, spoil) => {
    const url = new URL(empty.url);
    spoil(url);
    const error = await openPostgres(url.href).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(Bun.inspect(error)).not.toContain(url.password);
  });

  test("when its URL is invalid", async () => {
    await expect(openPostgres("postgres://u:hunter2@:x/")).rejects.toThrow("must begin with postgres://");
    await expect(openPostgres("mysql://u:hunter2@localhost/")).rejects.toThrow("must begin with postgres://");
  });
});

test("a new connection takes the present password, and an open one goes on", async () => {
  const role = `rotated_${crypto.randomUUID().replaceAll("-", "")}`;
  const admin = readPostgresUrl(empty.url)({ max: 1 });
  const url = (password: string) => Object.assign(new URL(empty.url), { username: role, password }).href;
  let current = url("first");
  await admin.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'first'`);
  const client = readPostgresUrl(current, () => current)({ max: 1 });
  try {
    await client.unsafe("SELECT 1");
    await admin.unsafe(`ALTER ROLE ${role} PASSWORD 'second'`);
    await client.unsafe("SELECT 1");
    current = url("second");
    await admin.unsafe("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", [role]);
    const answers = () =>
      client.unsafe("SELECT 1").then(
        () => true,
        () => false,
      );
    await until(answers);
  } finally {
    await client.close({ timeout: 0 });
    await admin.unsafe(`DROP ROLE ${role}`);
    await admin.close();
  }
});

describe("the partitions of holds", () => {
  const NEW_YEAR_MS = Date.UTC(2027, 0, 1);

  async function partitionOf(client: Client, holdId: string): Promise<string> {
    await client.unsafe(
      `INSERT INTO holds (wallet_id, hold_id, key_id, state, late, requested, minimum, granted, accrued, captured,
        refunded, ttl_ms, created_at_ms, expires_at_ms, surface, model)
      VALUES ('w', $1, 'k', 'held', false, 1, 1, 1, 0, 0, 0, 1, 1, 1, 'chat', 'demo')`,
      [holdId],
    );
    const [row] = await client.unsafe(
      "SELECT tableoid::regclass::text AS part FROM holds WHERE hold_id = $1",
      [holdId],
    );
    return row.part;
  }

  test("split holds by month to the millisecond, and the default partition has the rest", async () => {
    const { client, close } = await openPostgres(empty.url);
    await ensurePartitions(client, NEW_YEAR_MS);
    const places = [NEW_YEAR_MS - 1, NEW_YEAR_MS, Date.UTC(2027, 2, 31), Date.UTC(2040, 0, 1)];
    const found: string[] = [];
    for (const atMs of places) found.push(await partitionOf(client, holdIdOf("h1", atMs)));
    expect(found).toEqual(["holds_2026_12", "holds_2027_01", "holds_2027_03", "holds_default"]);
    await close();
  });

  test("exist from the previous month to two months ahead when the database is opened", async () => {
    const partitionsAround = (now: Date) => [
      ...[-1, 0, 1, 2].map((later) => {
        const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + later, 15));
        return `holds_${month.toISOString().slice(0, 7).replace("-", "_")}`;
      }),
      "holds_default",
    ];
    const before = new Date();
    const { client, close } = await openPostgres(empty.url);
    // A month may end meanwhile.
    expect([before, new Date()].map(partitionsAround)).toContainEqual(await partitionsOf(client));
    await close();
  });

  test("are created once by concurrent replicas", async () => {
    const databases = await Promise.all(Array.from({ length: 3 }, () => openPostgres(empty.url)));
    await Promise.all(databases.map(({ client }) => ensurePartitions(client, NEW_YEAR_MS)));
    const [first] = databases;
    const made = await partitionsOf(databaseOf(first));
    await ensurePartitions(databaseOf(first), NEW_YEAR_MS);
    expect(await partitionsOf(databaseOf(first))).toEqual(made);
    for (const { close } of databases) await close();
  });

  test("are created by a later call while a long query reads the default partition", async () => {
    const { client, close } = await openPostgres(empty.url);
    const made = await partitionsOf(client);
    await client.begin(async (reader) => {
      await reader.unsafe("SELECT count(*) FROM holds");
      await ensurePartitions(client, NEW_YEAR_MS);
      expect(await partitionsOf(client)).toEqual(made);
    });
    await ensurePartitions(client, NEW_YEAR_MS);
    expect(await partitionsOf(client)).toContain("holds_2027_03");
    await close();
  });

  test("take over the holds that the default partition has of their month", async () => {
    const { client, close } = await openPostgres(empty.url);
    const april = Date.UTC(2027, 3, 10);
    expect(await partitionOf(client, holdIdOf("h1", april))).toBe("holds_default");
    expect(await partitionOf(client, holdIdOf("far", Date.UTC(2040, 0, 1)))).toBe("holds_default");
    await ensurePartitions(client, april);
    expect(await countsOf(client)).toEqual({ holds_2027_04: 1, holds_default: 1 });
    expect(await partitionOf(client, holdIdOf("h2", april))).toBe("holds_2027_04");
    await close();
  });

  test.each([
    ["has too many holds of their month", { movedMax: 1, bytesMax: 2 ** 20 }, ["holds_2027_05"]],
    ["would take too long to read", { movedMax: 100, bytesMax: 0 }, []],
  ])("are not created when the default partition %s", async (_, bounds, made) => {
    const { client, close } = await openPostgres(empty.url);
    const april = Date.UTC(2027, 3, 10);
    for (const name of ["h1", "h2"]) await partitionOf(client, holdIdOf(name, april));
    await ensurePartitions(client, april, bounds);
    const of2027 = (await partitionsOf(client)).filter((name) => /_2027_0[45]/.test(name));
    expect(of2027).toEqual(made);
    expect(await partitionOf(client, holdIdOf("h3", april))).toBe("holds_default");
    await close();
  });

  /** How many holds each partition has that has any. */
  async function countsOf(client: Client): Promise<Record<string, number>> {
    const rows: { part: string; count: bigint }[] = await client.unsafe(
      "SELECT tableoid::regclass::text AS part, count(*) AS count FROM holds GROUP BY 1 ORDER BY 1",
    );
    return Object.fromEntries(rows.map(({ part, count }) => [part, Number(count)]));
  }
});

type Client = Awaited<ReturnType<typeof openPostgres>>["client"];

function databaseOf(database: { readonly client: Client } | undefined): Client {
  if (!database) throw new Error("no database was opened");
  return database.client;
}

const TABLES = [
  ...[
    "accounts",
    "api_keys",
    "audit_entries",
    "auto_payments",
    "auto_top_ups",
    "card_setups",
    "checkouts",
    "credentials",
    "credits",
    "dropped_counters",
    "dropped_receipts",
  ],
  ...["export_ends", "export_numbers", "export_positions", "exports", "forgotten_names", "gateways", "holds"],
  ...[
    "idempotent_answers",
    "identities",
    "instance",
    "invitations",
    "journal_sums",
    "leases",
    "limit_counters",
    "mails",
    "management_keys",
    "members",
  ],
  ...[
    "notice_rules",
    "notices",
    "open_notices",
    "passkeys",
    "people",
    "plan_grants",
    "plan_invoices",
    "plan_orders",
    "projects",
    "proofs",
    "recording_bytes",
    "recordings",
    "redeem_codes",
    "refused_requests",
  ],
  ...[
    "retention",
    "reversals",
    "route_hours",
    "runs",
    "schema_version",
    "second_factors",
    "sessions",
    "shared_links",
    "shared_values",
    "signed_days",
    "signed_payments",
    "spend_limits",
    "subject_crossings",
    "subject_positions",
    "subscriptions",
    "tag_values",
    "transfers",
  ],
  ...["usage_cursor", "usage_days", "usage_fence", "usage_hours", "usage_scope_days", "usage_stale"],
  ...["usage_total_days", "usage_total_hours", "wallets", "webhook_calls"],
];

async function tablesOf(client: Client): Promise<string[]> {
  const rows: { name: string }[] = await client.unsafe(
    "SELECT relname::text AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND NOT relispartition ORDER BY 1",
  );
  return rows.map(({ name }) => name);
}

async function partitionsOf(client: Client): Promise<string[]> {
  const rows: { name: string }[] = await client.unsafe(
    "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'holds'::regclass ORDER BY 1",
  );
  return rows.map(({ name }) => name);
}
