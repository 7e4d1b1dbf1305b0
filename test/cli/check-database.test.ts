import { describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findDatabaseFault } from "../../src/cli/check-database.ts";
import { openDatabase } from "../../src/db/sqlite/database.ts";
import { tempFolder } from "../support/temp-folder.ts";

describe("findDatabaseFault", () => {
  test("is content with a database that is in use", () => {
    const path = join(tempFolder(), "x.db");
    const database = openDatabase(path);
    database.client.run("BEGIN IMMEDIATE");
    expect(findDatabaseFault(path)).toBeUndefined();
    database.client.run("ROLLBACK");
    database.close();
  });

  test("is content with a file that can be created, and does not create it", () => {
    const folder = tempFolder();
    expect(findDatabaseFault(join(folder, "a", "b", "x.db"))).toBeUndefined();
    expect(existsSync(join(folder, "a"))).toBe(false);
  });

  test("reports a file that is no database", () => {
    const path = join(tempFolder(), "x.db");
    writeFileSync(path, "no database ".repeat(1_000));
    expect(findDatabaseFault(path)).toStartWith("DATABASE_URL: names a file that cannot be used");
  });

  test("reports a folder in place of a file and a file in place of a folder", () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "file"), "");
    expect(findDatabaseFault(folder)).toStartWith("DATABASE_URL: names a file that cannot be used");
    expect(findDatabaseFault(join(folder, "file", "x.db"))).toStartWith("DATABASE_URL: cannot be created");
  });

  test("reports a database of a newer version and leaves it as it is", () => {
    const path = join(tempFolder(), "x.db");
    const database = openDatabase(path);
    database.client.run("PRAGMA user_version = 999");
    database.close();
    expect(findDatabaseFault(path)).toStartWith("DATABASE_URL: is at version 999");
  });
});
