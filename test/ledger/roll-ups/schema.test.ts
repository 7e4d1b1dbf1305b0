import { expect, test } from "bun:test";
import { getTableColumns } from "drizzle-orm";
import * as postgres from "../../../src/db/postgres/schema.ts";
import * as sqlite from "../../../src/db/sqlite/schema.ts";
import { SUMS_OF_RECEIPTS, SUMS_OF_SUMS } from "../../../src/ledger/queries/usage-columns.ts";
import { columnsOf } from "../../../src/ledger/roll-ups/aggregate.ts";
import { HISTOGRAM_BOUNDS_MS } from "../../../src/ledger/usage-records.ts";

test("the roll-ups of both databases have the columns that are summed and written", () => {
  const tables = [sqlite.usageHours, sqlite.usageDays, postgres.usageHours, postgres.usageDays];
  const names = tables.map((table) => Object.values(getTableColumns(table)).map(({ name }) => name));
  const rollUps = columnsOf("usage_hours");
  for (const columns of names) expect(columns).toEqual([...rollUps]);
  const totals = [
    sqlite.usageTotalHours,
    sqlite.usageTotalDays,
    postgres.usageTotalHours,
    postgres.usageTotalDays,
  ];
  for (const table of totals) {
    const columns = Object.values(getTableColumns(table)).map(({ name }) => name);
    expect(columns).toEqual([...columnsOf("usage_total_hours")]);
  }
  for (const table of [sqlite.usageScopeDays, postgres.usageScopeDays]) {
    const columns = Object.values(getTableColumns(table)).map(({ name }) => name);
    expect(columns).toEqual([...columnsOf("usage_scope_days")]);
  }
  const summed = (sql: string) => sql.split(" AS ")[1] ?? "";
  expect(SUMS_OF_SUMS.map(summed)).toEqual(rollUps.slice(6));
  expect(SUMS_OF_RECEIPTS.map(summed)).toEqual(rollUps.slice(6));
  expect(rollUps.filter((name) => name.startsWith("total_"))).toHaveLength(HISTOGRAM_BOUNDS_MS.length + 1);
});

test("tables beside the roll-ups have the same columns in both databases", () => {
  const columns = (table: Parameters<typeof getTableColumns>[0]) =>
    Object.values(getTableColumns(table)).map(({ name }) => name);
  expect(columns(sqlite.usageCursor)).toEqual(columns(postgres.usageCursor));
  expect(columns(sqlite.usageFence)).toEqual(columns(postgres.usageFence));
  expect(columns(sqlite.usageStale)).toEqual(columns(postgres.usageStale));
  expect(columns(sqlite.journalSums)).toEqual(columns(postgres.journalSums));
  expect(columns(sqlite.retention)).toEqual(columns(postgres.retention));
  expect(columns(sqlite.droppedReceipts)).toEqual(columns(postgres.droppedReceipts));
  expect(columns(sqlite.droppedCounters)).toEqual(columns(postgres.droppedCounters));
});
