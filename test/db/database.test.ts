import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { eq, gt } from "drizzle-orm";
import { MIGRATIONS, openDatabase } from "../../src/db/sqlite/database.ts";
import journal from "../../src/db/sqlite/migrations/meta/_journal.json";
import { accounts, apiKeys, runs } from "../../src/db/sqlite/schema.ts";
import { NANOS_MAX } from "../../src/domain/money.ts";
import { temporaryFolder } from "../ledger/samples.ts";

let folder: ReturnType<typeof temporaryFolder>;
let path: string;

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, "data", "tollgate.db");
});

afterEach(() => folder.remove());

test("every generated migration is applied, in the order of its journal", async () => {
  const generated = journal.entries.map(({ tag }) =>
    Bun.file(`${import.meta.dir}/../../src/db/sqlite/migrations/${tag}.sql`).text(),
  );
  expect([...MIGRATIONS]).toEqual(await Promise.all(generated));
});

test("the database and its WAL are created readable by their owner alone", () => {
  const database = openDatabase(path);
  database.client.run("INSERT INTO accounts (id, name, created_at_ms) VALUES ('1', 'a', 0)");
  const modeOf = (file: string) => statSync(file).mode & 0o777;
  expect(modeOf(join(folder.path, "data"))).toBe(0o700);
  expect([path, `${path}-wal`, `${path}-shm`].map(modeOf)).toEqual([0o600, 0o600, 0o600]);
  database.close();
});

test("a connection uses WAL with synchronous FULL", () => {
  const { client, close } = openDatabase(path);
  const read = (pragma: string) => client.query(`PRAGMA ${pragma}`).values()[0]?.[0];
  expect([read("journal_mode"), read("synchronous"), read("foreign_keys")]).toEqual(["wal", 2, 0]);
  close();
});

test("an audit entry is looked up by its target without a read of the whole trail", () => {
  const { client, close } = openDatabase(path);
  const plan = (condition: string) =>
    client.query(`EXPLAIN QUERY PLAN SELECT id FROM audit_entries WHERE ${condition}`).values().join();
  const conditions = [
    "action = 'a' AND target = 't'",
    "account_id = 'x' AND action = 'a' AND target = 't'",
    "action IN ('a', 'b') AND target IN ('t', 'u')",
  ];
  for (const condition of conditions)
    expect(plan(condition)).toContain("INDEX audit_entries_target (target=? AND action=?)");
  close();
});

test("a reopened database keeps its rows", async () => {
  const first = openDatabase(path);
  await first.db.insert(accounts).values({ id: "1", name: "acme", createdAtMs: 5 });
  const key = { id: "2", accountId: "1", name: "k", hint: "sk-tg-1234", digest: "d", createdAtMs: 6 };
  await first.db.insert(apiKeys).values({ ...key, models: ["a", "b"], allowsClamp: true });
  first.close();
  const again = openDatabase(path);
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
    { ...key, models: ["a", "b"], allowsClamp: true, expiresAtMs: null },
  ]);
  again.close();
});

test.each(["0", "-9007199254740993", "9007199254740993", `${NANOS_MAX}`])(
  "an amount of %s nanos is read exactly: selected, joined, returned and compared",
  async (text) => {
    const amount = BigInt(text);
    const { db, close } = openDatabase(path);
    await db.insert(accounts).values({ id: "1", name: "acme", createdAtMs: 5 });
    const run = { accountId: "1", keyId: "2", runId: "r", day: 1, usedDay: 1 };
    const inserted = await db
      .insert(runs)
      .values({ ...run, amount })
      .returning();
    const updated = await db.update(runs).set({ spent: amount }).returning({ spent: runs.spent });
    const selected = await db.select().from(runs).where(eq(runs.amount, amount));
    const joined = await db
      .select({ amount: runs.amount })
      .from(runs)
      .innerJoin(accounts, eq(accounts.id, "1"));
    const above = await db
      .select()
      .from(runs)
      .where(gt(runs.amount, amount - 1n));
    close();
    expect([inserted, selected, joined, above].map(([row]) => row?.amount)).toEqual(Array(4).fill(amount));
    expect([inserted[0]?.spent, updated[0]?.spent]).toEqual([null, amount]);
  },
);

test("a database of a newer program is rejected and left untouched", () => {
  openDatabase(path).close();
  const newer = new Database(path);
  newer.run("PRAGMA user_version = 99");
  newer.close();
  expect(() => openDatabase(path)).toThrow(`at version 99, this program knows ${MIGRATIONS.length}`);
});

test("a file that is no database is rejected", async () => {
  await Bun.write(path, "hello ".repeat(1000));
  expect(() => openDatabase(path)).toThrow();
});

/** The tables of the current schema, as a process prints their number. */
const TABLE_COUNT = "68";

test("a start waits for the migration of another process and applies nothing twice", async () => {
  await mkdir(dirname(path));
  const first = new Database(path, { create: true, readwrite: true });
  first.run("PRAGMA journal_mode = WAL");
  first.run("BEGIN IMMEDIATE");
  const second = startElsewhere();
  await Bun.sleep(250);
  for (const migration of MIGRATIONS) first.run(migration);
  first.run(`PRAGMA user_version = ${MIGRATIONS.length}`);
  first.run("COMMIT");
  expect(await second).toBe(TABLE_COUNT);
  first.close();
});

test("processes that start together all find the whole schema", async () => {
  const said = await Promise.all(Array.from({ length: 5 }, startElsewhere));
  expect(said).toEqual(Array(5).fill(TABLE_COUNT));
});

/** Opens the database in another process. Resolves with the number of tables found there. */
async function startElsewhere(): Promise<string> {
  const module = `${import.meta.dir}/../../src/db/sqlite/database.ts`;
  const script = `import { openDatabase } from ${JSON.stringify(module)};
    const { client } = openDatabase(${JSON.stringify(path)});
    console.log(client.query("SELECT count(*) FROM sqlite_master WHERE type = 'table'").values()[0][0]);`;
  const start = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "ignore" });
  return (await new Response(start.stdout).text()).trim();
}

test("two processes can open a new file at the same moment", async () => {
  const open = () =>
    Bun.spawn([process.execPath, `${import.meta.dir}/open-child.ts`, folder.path, "60"], { stderr: "pipe" });
  const both = [open(), open()];
  expect(await Promise.all(both.map(({ stderr }) => new Response(stderr).text()))).toEqual(["", ""]);
  expect(await Promise.all(both.map(({ exited }) => exited))).toEqual([0, 0]);
});
