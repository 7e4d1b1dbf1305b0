import {
  check,
  customType,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import type { Nanos } from "../../domain/money.ts";

/**
 * Money in an integer column. Reading throws RangeError for an unsafe number, when an expression of the column was
 * read as a number: failing is better than rounding money.
 */
const nanos = customType<{ data: Nanos; driverData: bigint | number | string }>({
  dataType: () => "integer",
  fromDriver(value) {
    if (typeof value === "number" && !Number.isSafeInteger(value)) {
      throw new RangeError("Cannot read an amount exactly: the statement must read it as text");
    }
    return BigInt(value);
  },
});

/**
 * Has Drizzle select a column as text, as it does its own columns of bigints: its connections read integers as numbers,
 * which are exact up to 9,007,199 USD only.
 */
function asText<Builder extends object>(builder: Builder): Builder {
  // Safe because every builder has a config, which is protected. The type of the stored column stays integer.
  const { config } = builder as unknown as { readonly config: { columnType: string } };
  config.columnType = "SQLiteNumericBigInt";
  return builder;
}

/** The kinds of columns. Those of one name have equal values in both dialects. */
export const SQLITE_KINDS = {
  text: (name: string) => text(name),
  /** Whole numbers up to 2^53. */
  whole: (name: string) => integer(name),
  small: (name: string) => integer(name),
  flag: (name: string) => integer(name, { mode: "boolean" }),
  nanos: (name: string) => asText(nanos(name)),
  /** A time that better-auth reads and writes as a Date. */
  moment: (name: string) => integer(name, { mode: "timestamp_ms" }),
  uuid: (name: string) => text(name),
  /** JSON that stays as printed. */
  json: (name: string) => text(name),
  /** A value that is printed as JSON, and parsed when it is read. */
  printedJson: (name: string) => text(name, { mode: "json" }),
};

/** Declares the tables of SQLite. */
export const SQLITE_COLUMNS = {
  ...SQLITE_KINDS,
  isSqlite: true as boolean,
  createTable: sqliteTable,
  index,
  uniqueIndex,
  primaryKey,
  check,
};

/** Declares tables of either dialect, typed as those of SQLite. */
export type Columns = typeof SQLITE_COLUMNS;

type Declarations = Readonly<Record<string, (t: Columns) => unknown>>;

type Declared<Given extends Declarations> = { readonly [Name in keyof Given]: ReturnType<Given[Name]> };

/** Declares tables for one dialect, by their names. */
export function declareTables<Given extends Declarations>(given: Given, columns: Columns): Declared<Given> {
  const tables = Object.entries(given).map(([name, declare]) => [name, declare(columns)]);
  // Safe because each name keeps its own table.
  return Object.fromEntries(tables) as Declared<Given>;
}
