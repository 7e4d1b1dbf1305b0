import { expect, test } from "bun:test";
import { getTableColumns } from "drizzle-orm";
import * as postgres from "../../src/db/postgres/schema.ts";
import * as sqlite from "../../src/db/sqlite/schema.ts";

test("the tables of exports have the same columns in both databases", () => {
  const columns = (table: Parameters<typeof getTableColumns>[0]) =>
    Object.values(getTableColumns(table)).map(({ name }) => name);
  expect(columns(sqlite.usageExports)).toEqual(columns(postgres.usageExports));
  expect(columns(sqlite.exportPositions)).toEqual(columns(postgres.exportPositions));
  expect(columns(sqlite.exportEnds)).toEqual(columns(postgres.exportEnds));
  expect(columns(sqlite.exportNumbers)).toEqual(columns(postgres.exportNumbers));
});
