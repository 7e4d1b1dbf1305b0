import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { SCOPE_KINDS } from "../../src/domain/scope.ts";
import { type OutboxEntry, parseEntry, printEntry } from "../../src/settlement-outbox/entry.ts";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import { createCommitGroup } from "../../src/settlement-outbox/outbox.ts";
import { priceOf } from "../domain/arbitraries.ts";
import { WALLET } from "../ledger/samples.ts";
import { breakSyncs } from "../support/broken-log.ts";
import { until } from "../support/until.ts";
import { FUNDS, type OutboxFixture, openOutboxFixture } from "./fixture.ts";

let env: OutboxFixture;
beforeEach(async () => {
  env = await openOutboxFixture();
});
afterEach(() => env.close());

const NAME = "01997e60-0000-7000-8000-000000000001.db";

/** Writes a file that no process holds into the folder of the outbox files. */
function leaveFile(write: (path: string) => void): string {
  const folder = join(env.folder, "journal");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, NAME);
  write(path);
  return path;
}

/** Leaves an outbox with one settlement of 40, as a process that ends while the ledger is unavailable. */
async function leaveOutbox(change: (client: Database) => void): Promise<string> {
  env.ledger.mode = "away";
  const outbox = env.outbox();
  await outbox.append(await env.heldEntry("left", 40n));
  await outbox.close();
  const path = findOutboxes(env.folder)[0]?.path ?? "";
  const client = new Database(path);
  change(client);
  client.close();
  env.ledger.mode = "here";
  return path;
}

/** Expects that another outbox replays its entries. */
async function expectReplay(): Promise<void> {
  const outbox = env.outbox();
  await outbox.append(await env.heldEntry("beside", 1n));
  await until(() => outbox.pending() === 0);
  expect((await env.storage.ledger.balances(WALLET)).posted).toBe(FUNDS - 1n);
}

describe("an unreadable outbox file", () => {
  test.each([
    ["is not a database", (path: string) => writeFileSync(path, "x".repeat(10_000))],
    ["has other tables", (path: string) => new Database(path).run("CREATE TABLE other (id)")],
  ])("that %s is quarantined, logged once and found, and another outbox works", async (_name, write) => {
    const path = leaveFile(write);
    await expectReplay();
    expect(findOutboxes(env.folder)).toEqual([{ path: `${path}.damaged`, entries: 0, isReadable: false }]);
    expect(env.log.text().match(/settlement outbox cannot be opened/g)).toHaveLength(1);
    expect(env.files()).toContain(`${NAME}.damaged`);
    expect(env.files()).not.toContain(NAME);
  });

  test("of a later version is left untouched and logged once", async () => {
    const path = await leaveOutbox((client) => client.run("PRAGMA user_version = 99"));
    await expectReplay();
    expect(findOutboxes(env.folder)).toEqual([{ path, entries: 0, isReadable: false }]);
    expect(env.log.text().match(/settlement outbox cannot be opened/g)).toHaveLength(1);
  });

  test("with damaged tables is quarantined together with its WAL", async () => {
    const path = await leaveOutbox(() => undefined);
    const bytes = Buffer.from(await Bun.file(path).arrayBuffer());
    writeFileSync(path, bytes.fill(0xa5, 4096));
    await expectReplay();
    await until(() => env.files().includes(`${path.split("/").at(-1)}.damaged`));
    expect(findOutboxes(env.folder)).toMatchObject([{ isReadable: false }]);
  });
});

test("an outbox file without tables is deleted", async () => {
  leaveFile((path) => writeFileSync(path, ""));
  expect(findOutboxes(env.folder)).toEqual([]);
  await expectReplay();
  expect(env.files()).not.toContain(NAME);
  expect(findOutboxes(env.folder)).toEqual([]);
  expect(env.log.text()).toBe("");
});

test("a locked outbox file is adopted once it is unlocked", async () => {
  const path = await leaveOutbox(() => undefined);
  const reader = new Database(path);
  reader.run("PRAGMA locking_mode = EXCLUSIVE");
  reader.run("BEGIN IMMEDIATE");
  const outbox = env.outbox();
  await until(() => env.log.text().includes("settlement outbox cannot be opened"));
  reader.close();
  await until(() => findOutboxes(env.folder).length === 0 && outbox.pending() === 0);
  expect((await env.storage.ledger.balances(WALLET)).posted).toBe(FUNDS - 40n);
});

describe("an outbox file that names its database", () => {
  const OTHER = { id: "0".repeat(32), restoredFrom: undefined };

  /** Leaves an outbox of this database, with one settlement of 40. */
  async function leaveOwned(owner: { readonly id: string; readonly restoredFrom: undefined }): Promise<void> {
    env.ledger.mode = "away";
    const outbox = env.outbox({ owner });
    await outbox.append(await env.heldEntry("left", 40n));
    await outbox.close();
    env.ledger.mode = "here";
  }

  test("is left alone by the gateway of another database, which logs it once", async () => {
    const owner = { id: "f".repeat(32), restoredFrom: undefined };
    await leaveOwned(owner);
    const other = env.outbox({ owner: OTHER });
    await until(() => env.log.text().includes("settlement outbox of another database left alone"));
    await other.append(await env.heldEntry("own", 2n));
    await until(() => other.pending() === 0);
    expect(env.log.text().match(/of another database left alone/g)).toHaveLength(1);
    expect(findOutboxes(env.folder)).toMatchObject([{ entries: 1, origin: owner.id }]);
    expect((await env.storage.ledger.balances(WALLET)).posted).toBe(FUNDS - 2n);
  });

  test("is replayed by the same database, and by one that was restored from it", async () => {
    await leaveOwned(OTHER);
    const restored = env.outbox({ owner: { id: "f".repeat(32), restoredFrom: OTHER.id } });
    await until(() => findOutboxes(env.folder).length === 0 && restored.pending() === 0);
    expect((await env.storage.ledger.balances(WALLET)).posted).toBe(FUNDS - 40n);
  });
});

test("an entry whose checksum does not match is kept and not settled", async () => {
  await leaveOutbox((client) => {
    client.run(`UPDATE entries SET entry = replace(entry, '"40"', '"41"')`);
    expect(client.query("SELECT changes() AS n").get()).toEqual({ n: 1 });
  });
  await expectReplay();
  await until(() => env.log.text().includes('"refusal":"unreadable"'));
  expect(findOutboxes(env.folder)).toMatchObject([{ entries: 1, isReadable: true }]);
});

describe("an outbox on a failing disk", () => {
  test("does not open when its folder cannot be created", () => {
    writeFileSync(join(env.folder, "journal"), "");
    expect(() => env.outbox()).toThrow();
    rmSync(join(env.folder, "journal"));
  });

  test("rejects an entry that could not be synced, and writes the next one to a new file", async () => {
    const outbox = env.outbox({ everyMs: 60_000 });
    env.ledger.mode = "away";
    const [log = ""] = env.files().filter((name) => name.endsWith("-wal"));
    breakSyncs(join(env.folder, "journal", log));
    const entries = await Promise.all(["a", "b"].map((name) => env.heldEntry(name, 40n)));
    const [a, b] = entries;
    if (!a || !b) throw new Error("two holds were taken");
    await expect(outbox.append(a)).rejects.toThrow("the write to disk failed");
    await outbox.append(b);
    env.ledger.mode = "here";
    await outbox.drain(60_000);
    expect(outbox.pending()).toBe(0);
    // The rejected entry had reached the disk too, and a real cost is settled.
    expect((await env.storage.ledger.balances(WALLET)).posted).toBe(FUNDS - 80n);
  });
});

test("findOutboxes changes nothing, and finds nothing in a missing folder", async () => {
  expect(findOutboxes(join(env.folder, "nowhere"))).toEqual([]);
  const outbox = env.outbox();
  env.ledger.mode = "away";
  await outbox.append(await env.heldEntry("a"));
  const files = env.files();
  for (let round = 0; round < 50; round++) expect(findOutboxes(env.folder)).toMatchObject([{ entries: 1 }]);
  expect(env.files()).toEqual(files);
});

describe("createCommitGroup()", () => {
  test("commits the items of one event-loop turn together, then those that arrived during the commit", async () => {
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

  test("rejects every item of a failed commit, and commits the next item", async () => {
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

/** Returns the value after a JSON round trip, which turns -0 into 0. */
function asJson(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value));
}

test("every entry survives printing and parsing", () => {
  const text = fc.string({ unit: "binary" });
  const picos = fc.bigInt(0n, 10n ** 16n);
  const facts = fc.record(
    {
      outcome: text,
      source: fc.constantFrom("reported" as const, "none" as const),
      price: priceOf(picos),
      upstreamCost: picos,
      upstream: text,
      totalMs: fc.nat(),
      attempts: fc.array(fc.record({ upstream: text, status: fc.nat(599), ms: fc.nat() })),
    },
    { requiredKeys: ["outcome", "source", "attempts"] },
  );
  const nanos = fc.bigInt(0n, 4n * 10n ** 18n);
  const requestFacts = fc.record({ surface: text, model: text });
  const scopes = fc.array(fc.record({ kind: fc.constantFrom(...SCOPE_KINDS), id: text }), { maxLength: 16 });
  const taken = fc.record(
    { keyId: text, granted: nanos, ttlMs: fc.nat(), facts: requestFacts, scopes },
    { requiredKeys: ["keyId", "granted", "ttlMs", "facts"] },
  );
  const release = fc.record(
    { walletId: text, holdId: text, facts, metadata: fc.dictionary(text, fc.jsonValue()).map(asJson), taken },
    { requiredKeys: ["walletId", "holdId", "facts"] },
  );
  const settle = fc
    .tuple(release, nanos)
    .map(([request, amount]) => ({ kind: "settle" as const, request: { ...request, amount } }));
  const entries: fc.Arbitrary<OutboxEntry> = fc.oneof(
    settle,
    release.map((request) => ({ kind: "release" as const, request })),
    release.map((request) => ({ kind: "release_if_held" as const, request })),
  );
  fc.assert(fc.property(entries, (entry) => expect(parseEntry(printEntry(entry))).toEqual(entry)));
});

test("an entry of an older version has no scopes", () => {
  const facts = '{"outcome":"ok","source":"reported","attempts":[]}';
  const taken = '{"keyId":"k1","granted":"40","ttlMs":60000,"facts":{"surface":"chat","model":"demo"}}';
  const { request } = parseEntry(
    `{"walletId":"acme","holdId":"h1","facts":${facts},"kind":"settle","amount":"30","taken":${taken}}`,
  );
  expect(request.taken).toEqual({
    keyId: "k1",
    granted: 40n,
    ttlMs: 60_000,
    facts: { surface: "chat", model: "demo" },
  });
});
