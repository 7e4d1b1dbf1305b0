import { Database as SqliteFile } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { beginEpoch } from "../../src/backup/manifest.ts";
import { connectDatabase, type Database } from "../../src/db/database.ts";
import { claimInstance, readInstance } from "../../src/db/instance.ts";
import type { DatabaseLocation } from "../../src/db/location.ts";
import { isOpenElsewhere } from "../../src/db/sqlite/database.ts";
import { createLocation, DIALECTS } from "../accounts/temp-storage.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { copyTestDatabase, createEmptyDatabase } from "../support/test-database.ts";

async function withDatabase<Result>(
  location: DatabaseLocation,
  use: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await connectDatabase(location);
  return use(database).finally(() => database.close());
}

/** A process that outlives a failed test would keep the test command from ending. */
const children: Bun.Subprocess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Serves a SQLite file from another process, as far as its instance is concerned, until the result is called. */
async function serveElsewhere(path: string) {
  const folder = JSON.stringify(join(import.meta.dir, "../../src/db"));
  const script = `const { connectDatabase } = await import(${folder} + "/database.ts");
    const { claimInstance } = await import(${folder} + "/instance.ts");
    const database = await connectDatabase(${JSON.stringify({ dialect: "sqlite", path })});
    console.log((await claimInstance(database)).id);
    setInterval(() => database.ping(), 1000);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  children.push(child);
  await child.stdout.getReader().read();
  return async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
}

test("two new databases of SQLite have different ids", async () => {
  const read = () => withDatabase({ dialect: "sqlite", path: join(tempFolder(), "a.db") }, readInstance);
  const [one, other] = [await read(), await read()];
  expect(one).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}$/), epoch: 1, restoredFrom: undefined });
  expect(other.id).not.toBe(one.id);
});

test("two new databases of PostgreSQL have different ids", async () => {
  const read = async () => {
    const { url, drop } = await createEmptyDatabase();
    return withDatabase({ dialect: "postgres", url }, readInstance).finally(drop);
  };
  const [one, other] = [await read(), await read()];
  expect(one).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}$/), epoch: 1, restoredFrom: undefined });
  expect(other.id).not.toBe(one.id);
});

test.each(DIALECTS)(
  "a new epoch of %s has a new id, and knows the last instance that was served",
  async (dialect) => {
    const { location, drop } = await createLocation(dialect);
    await withDatabase(location, async (database) => {
      const first = await claimInstance(database);
      expect(await claimInstance(database)).toEqual(first);
      const next = await beginEpoch(database, { backupAtMs: 5, nowMs: 6 });
      expect(next).toEqual({ id: expect.not.stringContaining(first.id), epoch: 2, restoredFrom: first.id });
      const again = await beginEpoch(database, { backupAtMs: 5, nowMs: 7 });
      expect(again).toMatchObject({ epoch: 3, restoredFrom: first.id });
      expect(await claimInstance(database)).toEqual(again);
      const last = await beginEpoch(database, { backupAtMs: 5, nowMs: 8 });
      expect(last).toMatchObject({ epoch: 4, restoredFrom: again.id });
      const entries = await database.db.select().from(database.tables.auditEntries);
      const restored = { action: "instance.restored", actorKind: "command_line" };
      expect(entries).toMatchObject([{ ...restored, target: next.id }, restored, restored]);
    });
    await drop();
  },
);

/** Copies a database with its log, as the shell of SQLite would. */
function copyDatabase(from: string, to: string): void {
  using client = new SqliteFile(from);
  client.run("VACUUM INTO ?", [to]);
}

describe("a copied SQLite file", () => {
  /** Returns a copy of a database that a process serves, and what ends the process. */
  async function copy() {
    const original = join(tempFolder(), "tollgate.db");
    const end = await serveElsewhere(original);
    const path = join(tempFolder(), "tollgate.db");
    copyDatabase(original, path);
    const location = { dialect: "sqlite", path } as const;
    const restore = () => withDatabase(location, (db) => beginEpoch(db, { backupAtMs: 5, nowMs: 6 }));
    return { original, end, restore, claim: () => withDatabase(location, claimInstance) };
  }

  test("is refused while another process uses the original, and served when none does", async () => {
    const { original, end, claim } = await copy();
    expect(isOpenElsewhere(original)).toBe(true);
    await expect(claim()).rejects.toThrow(`it is a copy of ${original}, which is in use`);
    await end();
    expect(isOpenElsewhere(original)).toBe(false);
    expect((await claim()).epoch).toBe(1);
  });

  test("that was restored is refused while the original is in use again", async () => {
    const { original, end, claim, restore } = await copy();
    const { epoch } = await restore();
    await expect(claim()).rejects.toThrow(`it was restored from ${original}, which is in use`);
    await end();
    expect((await claim()).epoch).toBe(epoch);
  });

  test("is served while another database has the place of the original", async () => {
    const { original, end, claim } = await copy();
    await end();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${original}${suffix}`, { force: true });
    const endOther = await serveElsewhere(original);
    expect((await claim()).epoch).toBe(1);
    await endOther();
  });
});

test("a copied database of PostgreSQL is refused until it is made an instance of its own", async () => {
  const { location, drop } = await createLocation("postgres");
  if (location.dialect !== "postgres") throw new Error("expected PostgreSQL");
  await withDatabase(location, claimInstance);
  const copied = await copyTestDatabase(location.url);
  await withDatabase({ dialect: "postgres", url: copied.url }, async (database) => {
    await expect(claimInstance(database)).rejects.toThrow(
      "it is a copy, and gateways may still use the original",
    );
    const next = await beginEpoch(database, { backupAtMs: undefined, nowMs: 6 });
    expect(await claimInstance(database)).toEqual(next);
  });
  await copied.drop();
  await drop();
});
