import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { findDatabaseProblem } from "../../../src/cli/check/database.ts";
import { openPostgres } from "../../../src/db/postgres/database.ts";
import { openDatabase } from "../../../src/db/sqlite/database.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { createEmptyDatabase, type TestDatabase } from "../../support/test-database.ts";

const findProblem = (path: string) => findDatabaseProblem({ dialect: "sqlite", path });

describe("findDatabaseProblem on SQLite", () => {
  test("accepts a database that is locked by a writer", async () => {
    const path = join(tempFolder(), "x.db");
    const database = openDatabase(path);
    database.client.run("BEGIN IMMEDIATE");
    expect(await findProblem(path)).toBeUndefined();
    database.client.run("ROLLBACK");
    database.close();
  });

  test("accepts a file that can be created, and does not create it", async () => {
    const folder = tempFolder();
    expect(await findProblem(join(folder, "a", "b", "x.db"))).toBeUndefined();
    expect(existsSync(join(folder, "a"))).toBe(false);
  });

  test("reports a file that is not a database", async () => {
    const path = join(tempFolder(), "x.db");
    writeFileSync(path, "no database ".repeat(1_000));
    expect(await findProblem(path)).toStartWith("DATABASE_URL: names a file that cannot be used");
  });

  test("reports a folder in place of a file, and a file in place of a folder", async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "file"), "");
    expect(await findProblem(folder)).toStartWith("DATABASE_URL: names a file that cannot be used");
    expect(await findProblem(join(folder, "file", "x.db"))).toStartWith("DATABASE_URL: cannot be created");
  });

  test("reports a database with a newer schema version", async () => {
    const path = join(tempFolder(), "x.db");
    const database = openDatabase(path);
    database.client.run("PRAGMA user_version = 999");
    database.close();
    expect(await findProblem(path)).toStartWith("DATABASE_URL: is at version 999");
  });
});

describe("findDatabaseProblem on PostgreSQL", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createEmptyDatabase();
  });
  afterAll(() => database.drop());

  const findProblemAt = (change: Partial<Pick<URL, "pathname" | "port" | "username" | "password">> = {}) => {
    const url = Object.assign(new URL(database.url), change);
    return findDatabaseProblem({ dialect: "postgres", url: url.href });
  };

  test("accepts an empty database and creates no tables", async () => {
    expect(await findProblemAt()).toBeUndefined();
    const client = new SQL(database.url);
    const tables = await client`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`;
    await client.close();
    expect([...tables]).toEqual([]);
  });

  test("accepts a database in use, and reports one with a newer schema version", async () => {
    const { client, close } = await openPostgres(database.url);
    expect(await findProblemAt()).toBeUndefined();
    await client`UPDATE schema_version SET version = 999`;
    await close();
    expect(await findProblemAt()).toStartWith("DATABASE_URL: is at version 999");
  });

  test.each([
    ["a missing database", "names a database", { pathname: "/nowhere-canary" }],
    ["an unreachable server", "names a server", { port: "1", password: "canary" }],
    ["a user that the server rejects", "user", { username: "somebody-canary", password: "canary" }],
  ])("reports %s and quotes nothing of the URL", async (_, problem, change) => {
    const found = await findProblemAt(change);
    expect(found).toStartWith("DATABASE_URL: ");
    expect(found).toContain(problem);
    expect(found).not.toContain("canary");
  });
});
