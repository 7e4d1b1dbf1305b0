import { bigint, customType } from "drizzle-orm/pg-core";

/** Text that compares and sorts by its bytes, as in SQLite, whatever the database's own order is. */
export const bytewise = customType<{ data: string; driverData: string }>({
  dataType: () => 'text COLLATE "C"',
});

/** A value kept as printed JSON in a text column: the driver parses and prints JSON columns in its own way. */
export const printedJson = customType<{ data: unknown; driverData: string }>({
  dataType: () => "text",
  toDriver: (value) => JSON.stringify(value),
  fromDriver: (printed) => JSON.parse(printed),
});

/** JSON kept as it was printed; whoever reads it through the driver casts it to text. */
export const verbatimJson = customType<{ data: string; driverData: string }>({
  dataType: () => "json",
});

/** Money. */
export const nanos = (name: string) => bigint(name, { mode: "bigint" });

/** Whole numbers as SQLite keeps them: up to 2^53 here. */
export const whole = (name: string) => bigint(name, { mode: "number" });
