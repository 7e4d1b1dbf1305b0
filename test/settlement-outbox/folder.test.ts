import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { type OutboxEntry, parseEntry, printEntry } from "../../src/settlement-outbox/entry.ts";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import { createCommitGroup } from "../../src/settlement-outbox/outbox.ts";
import { WALLET } from "../ledger/samples.ts";
import { FUNDS, type OutboxFixture, openOutboxFixture, until } from "./fixture.ts";

let books: OutboxFixture;
beforeEach(async () => {
  books = await openOutboxFixture();
});
afterEach(() => books.close());

const NAME = "01997e60-0000-7000-8000-000000000001.db";

/** A file in the folder of the journals that no process holds. */
function leave(write: (path: string) => void): string {
  const folder = join(books.folder, "journal");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, NAME);
  write(path);
  return path;
}

/** Leaves a journal with one settlement of 40 behind, as a process does that ends while the ledger is away. */
async function leaveJournal(change: (client: Database) => void): Promise<string> {
  books.ledger.is = "away";
  const journal = books.journal();
  await journal.append(await books.heldFor("left", 40n));
  await journal.close();
  const path = findOutboxes(books.folder)[0]?.path ?? "";
  const client = new Database(path);
  change(client);
  client.close();
  books.ledger.is = "here";
  return path;
}

async function worksBeside(): Promise<void> {
  const journal = books.journal();
  await journal.append(await books.heldFor("beside", 1n));
  await until(() => journal.pending() === 0);
  expect((await books.open.ledger.balances(WALLET)).posted).toBe(FUNDS - 1n);
}

describe("a journal that cannot be read", () => {
  test.each([
    ["is no database", (path: string) => writeFileSync(path, "x".repeat(10_000))],
    ["has other tables", (path: string) => new Database(path).run("CREATE TABLE other (id)")],
  ])("because it %s is put aside, said once and counted, and the start goes on", async (_name, write) => {
    const path = leave(write);
    await worksBeside();
    expect(findOutboxes(books.folder)).toEqual([{ path: `${path}.damaged`, entries: 0, isReadable: false }]);
    expect(books.log.text().match(/settlement outbox cannot be opened/g)).toHaveLength(1);
    expect(books.files()).toContain(`${NAME}.damaged`);
    expect(books.files()).not.toContain(NAME);
  });

  test("because a later version wrote it is left as it is", async () => {
    const path = await leaveJournal((client) => client.run("PRAGMA user_version = 99"));
    await worksBeside();
    expect(findOutboxes(books.folder)).toEqual([{ path, entries: 0, isReadable: false }]);
    expect(books.log.text().match(/settlement outbox cannot be opened/g)).toHaveLength(1);
  });

  test("in its tables is put aside with its log", async () => {
    const path = await leaveJournal(() => undefined);
    const bytes = Buffer.from(await Bun.file(path).arrayBuffer());
    writeFileSync(path, bytes.fill(0xa5, 4096));
    await worksBeside();
    await until(() => books.files().includes(`${path.split("/").at(-1)}.damaged`));
    expect(findOutboxes(books.folder)).toMatchObject([{ isReadable: false }]);
  });
});

test("a journal whose process was killed as it made it is removed", async () => {
  leave((path) => writeFileSync(path, ""));
  expect(findOutboxes(books.folder)).toEqual([]);
  await worksBeside();
  expect(books.files()).not.toContain(NAME);
  expect(findOutboxes(books.folder)).toEqual([]);
  expect(books.log.text()).toBe("");
});

test("a journal that cannot be opened at the moment is tried again", async () => {
  const path = await leaveJournal(() => undefined);
  const reader = new Database(path);
  reader.run("PRAGMA locking_mode = EXCLUSIVE");
  reader.run("BEGIN IMMEDIATE");
  const journal = books.journal();
  await until(() => books.log.text().includes("settlement outbox cannot be opened"));
  reader.close();
  await until(() => findOutboxes(books.folder).length === 0 && journal.pending() === 0);
  expect((await books.open.ledger.balances(WALLET)).posted).toBe(FUNDS - 40n);
});

test("an entry that is not what was written is kept, and not booked", async () => {
  await leaveJournal((client) => {
    client.run(`UPDATE entries SET entry = replace(entry, '"40"', '"41"')`);
    expect(client.query("SELECT changes() AS n").get()).toEqual({ n: 1 });
  });
  await worksBeside();
  await until(() => books.log.text().includes('"refusal":"unreadable"'));
  expect(findOutboxes(books.folder)).toMatchObject([{ entries: 1, isReadable: true }]);
});

describe("a journal on a disk that fails", () => {
  test("does not open where no folder can be", () => {
    writeFileSync(join(books.folder, "journal"), "");
    expect(() => books.journal()).toThrow();
    rmSync(join(books.folder, "journal"));
  });

  test("refuses what could not be synced, and takes the next into a file of its own", async () => {
    const journal = books.journal({ everyMs: 60_000 });
    books.ledger.is = "away";
    const [log = ""] = books.files().filter((name) => name.endsWith("-wal"));
    rmSync(join(books.folder, "journal", log));
    symlinkSync("/dev/null", join(books.folder, "journal", log));
    const entries = await Promise.all(["a", "b"].map((name) => books.heldFor(name, 40n)));
    const [a, b] = entries;
    if (!a || !b) throw new Error("two holds were taken");
    await expect(journal.append(a)).rejects.toThrow("the disk refuses it");
    await journal.append(b);
    books.ledger.is = "here";
    await journal.drain(60_000);
    expect(journal.pending()).toBe(0);
    // What was refused had been written all the same, and a real cost is booked.
    expect((await books.open.ledger.balances(WALLET)).posted).toBe(FUNDS - 80n);
  });
});

test("looking for journals changes nothing, also where there are none", async () => {
  expect(findOutboxes(join(books.folder, "nowhere"))).toEqual([]);
  const journal = books.journal();
  books.ledger.is = "away";
  await journal.append(await books.heldFor("a"));
  const files = books.files();
  for (let round = 0; round < 50; round++) expect(findOutboxes(books.folder)).toMatchObject([{ entries: 1 }]);
  expect(books.files()).toEqual(files);
});

describe("createCommitGroup()", () => {
  test("commits what one turn brings together, and then what came while that was committed", async () => {
    const commits: number[][] = [];
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const group = createCommitGroup<number>(async (items) => {
      commits.push([...items]);
      if (commits.length === 1) await done;
    });
    const first = [1, 2, 3].map((item) => group.add(item));
    while (commits.length === 0) await Bun.sleep(1);
    const second = [4, 5].map((item) => group.add(item));
    expect(group.waiting).toBe(5);
    resolve();
    await Promise.all([...first, ...second]);
    expect(commits).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
    expect(group.waiting).toBe(0);
  });

  test("rejects all of a commit that fails, and commits the next", async () => {
    let commits = 0;
    const group = createCommitGroup<number>(async () => {
      commits += 1;
      if (commits === 1) throw new Error("full");
    });
    const outcomes = await Promise.allSettled([group.add(1), group.add(2)]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await group.add(3);
    await group.idle();
    expect(commits).toBe(2);
  });
});

/** What JSON can say of a value: it knows no -0. */
function asJson(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value));
}

test("every entry is read as it was written", () => {
  const text = fc.string({ unit: "binary" });
  const picos = fc.bigInt(0n, 10n ** 16n);
  const facts = fc.record(
    {
      outcome: text,
      source: fc.constantFrom("reported" as const, "none" as const),
      price: fc.record({
        input: picos,
        output: picos,
        cachedInput: picos,
        cacheWrite: picos,
        cacheWrite1h: picos,
      }),
      upstream: text,
      totalMs: fc.nat(),
      attempts: fc.array(fc.record({ upstream: text, status: fc.nat(599), ms: fc.nat() })),
    },
    { requiredKeys: ["outcome", "source", "attempts"] },
  );
  const release = fc.record(
    { walletId: text, holdId: text, facts, metadata: fc.dictionary(text, fc.jsonValue()).map(asJson) },
    { requiredKeys: ["walletId", "holdId", "facts"] },
  );
  const settle = fc
    .tuple(release, fc.bigInt(0n, 4n * 10n ** 18n))
    .map(([request, amount]) => ({ kind: "settle" as const, request: { ...request, amount } }));
  const entries: fc.Arbitrary<OutboxEntry> = fc.oneof(
    settle,
    release.map((request) => ({ kind: "release" as const, request })),
    release.map((request) => ({ kind: "release_if_held" as const, request })),
  );
  fc.assert(fc.property(entries, (entry) => expect(parseEntry(printEntry(entry))).toEqual(entry)));
});
