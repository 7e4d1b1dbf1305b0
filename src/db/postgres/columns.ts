import {
  bigint,
  boolean,
  check,
  customType,
  index,
  pgTable,
  primaryKey,
  smallint,
  timestamp,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import type { Columns, SQLITE_KINDS } from "../sqlite/columns.ts";

/** Text that compares and sorts by its bytes, as in SQLite, whatever the collation of the database. */
const bytewise = customType<{ data: string; driverData: string }>({ dataType: () => 'text COLLATE "C"' });

/** A value as printed JSON in a text column, because the driver encodes JSON columns twice. */
const printedJson = customType<{ data: unknown; driverData: string }>({
  dataType: () => "text",
  toDriver: (value) => JSON.stringify(value),
  fromDriver: (printed) => JSON.parse(printed),
});

/** JSON that stays as printed. Reading it through the driver requires a cast to text. */
const verbatimJson = customType<{ data: string; driverData: string }>({ dataType: () => "json" });

const POSTGRES_KINDS = {
  text: (name: string) => bytewise(name),
  whole: (name: string) => bigint(name, { mode: "number" }),
  small: (name: string) => smallint(name),
  flag: (name: string) => boolean(name),
  nanos: (name: string) => bigint(name, { mode: "bigint" }),
  moment: (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" }),
  uuid: (name: string) => uuid(name),
  json: (name: string) => verbatimJson(name),
  printedJson: (name: string) => printedJson(name),
};

/** What a column of each kind reads and writes. */
type Values<Kinds extends Record<string, (name: string) => { readonly _: { readonly data: unknown } }>> = {
  readonly [Kind in keyof Kinds]: readonly [ReturnType<Kinds[Kind]>["_"]["data"]];
};

/** `never`, so that nothing is assignable, unless the kinds of both dialects have equal values. */
type EqualKinds = [Values<typeof SQLITE_KINDS>, Values<typeof POSTGRES_KINDS>] extends [
  Values<typeof POSTGRES_KINDS>,
  Values<typeof SQLITE_KINDS>,
]
  ? typeof POSTGRES_KINDS
  : never;

const kinds: EqualKinds = POSTGRES_KINDS;

/**
 * Declares the tables of PostgreSQL. Cast to the types of SQLite: Drizzle's builders of both dialects have the
 * methods that tables are declared with, and the compiler checks that columns of a kind have equal values.
 */
export const POSTGRES_COLUMNS = {
  ...kinds,
  isSqlite: false,
  createTable: pgTable,
  index,
  uniqueIndex,
  primaryKey,
  check,
} as unknown as Columns;
