import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { findDatabaseFault } from "../../src/cli/check-database.ts";
import { openPostgres } from "../../src/db/postgres/database.ts";
import { openDatabase } from "../../src/db/sqlite/database.ts";
import { createTestDatabase, type TestDatabase } from "../support/postgres-server.ts";
import { tempFolder } from "../support/temp-folder.ts";

const findFault = (path: string) => findDatabaseFault({ dialect: "sqlite", path });

describe("findDatabaseFault of a SQLite file", () => {
  test("is content with a database that is in use", async () => {
    const path = join(tempFolder(), "x.db");
    const database = openDatabase(path);
    database.client.run("BEGIN IMMEDIATE");
    expect(await findFault(path)).toBeUndefined();
    database.client.run("ROLLBACK");
    database.close();
  });

  test("is content with a file that can be created, and does not create it", async () => {
    const folder = tempFolder();
    expect(await findFault(join(folder, "a", "b", "x.db"))).toBeUndefined();
    expect(existsSync(join(folder, "a"))).toBe(false);
  });

  test("reports a file that is no database", async () => {
    const path = join(tempFolder(), "x.db");
    writeFileSync(path, "no database ".repeat(1_000));
    expect(await findFault(path)).toStartWith("DATABASE_URL: names a file that cannot be used");
  });

  test("reports a folder in place of a file and a file in place of a folder", async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "file"), "");
    expect(await findFault(folder)).toStartWith("DATABASE_URL: names a file that cannot be used");
    expect(await findFault(join(folder, "file", "x.db"))).toStartWith("DATABASE_URL: cannot be created");
  });

  test("reports a database of a newer version and leaves it as it is", async () => {
    const path = join(tempFolder(), "x.db");
    const database = openDatabase(path);
    database.client.run("PRAGMA user_version = 999");
    database.close();
    expect(await findFault(path)).toStartWith("DATABASE_URL: is at version 999");
  });
});

describe("findDatabaseFault of PostgreSQL", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const findFaultAt = (change: Partial<Pick<URL, "pathname" | "port" | "username" | "password">> = {}) => {
    const url = Object.assign(new URL(database.url), change);
    return findDatabaseFault({ dialect: "postgres", url: url.href });
  };

  test("is content with an empty database and leaves it empty", async () => {
    expect(await findFaultAt()).toBeUndefined();
    const client = new SQL(database.url);
    const tables = await client`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`;
    await client.close();
    expect([...tables]).toEqual([]);
  });

  test("is content with one that is in use, and reports one of a newer version", async () => {
    const { client, close } = await openPostgres(database.url);
    expect(await findFaultAt()).toBeUndefined();
    await client`UPDATE schema_version SET version = 999`;
    await close();
    expect(await findFaultAt()).toStartWith("DATABASE_URL: is at version 999");
  });

  test.each([
    ["a database that is not there", "names a database", { pathname: "/nowhere-canary" }],
    ["a server that is not there", "names a server", { port: "1", password: "canary" }],
    ["a user who is not let in", "user", { username: "somebody-canary", password: "canary" }],
  ])("reports %s and repeats nothing of the URL", async (_, says, change) => {
    const fault = await findFaultAt(change);
    expect(fault).toStartWith("DATABASE_URL: ");
    expect(fault).toContain(says);
    expect(fault).not.toContain("canary");
  });
});
