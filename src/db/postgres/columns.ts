import { bigint, customType, timestamp } from "drizzle-orm/pg-core";

/** Text that compares and sorts by its bytes, as in SQLite, whatever the collation of the database. */
export const bytewise = customType<{ data: string; driverData: string }>({
  dataType: () => 'text COLLATE "C"',
});

/** A value as printed JSON in a text column, because the driver encodes JSON columns twice. */
export const printedJson = customType<{ data: unknown; driverData: string }>({
  dataType: () => "text",
  toDriver: (value) => JSON.stringify(value),
  fromDriver: (printed) => JSON.parse(printed),
});

/** JSON that stays as printed. Reading it through the driver requires a cast to text. */
export const verbatimJson = customType<{ data: string; driverData: string }>({
  dataType: () => "json",
});

/** Money. */
export const nanos = (name: string) => bigint(name, { mode: "bigint" });

/** Whole numbers up to 2^53. */
export const whole = (name: string) => bigint(name, { mode: "number" });

/** A time that better-auth reads and writes as a Date. */
export const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });
