/** A value of a statement. Bigints are integers of 64 bits. */
export type QueryValue = string | number | bigint | null;

/** One statement that changes nothing, with the values of its placeholders. */
export interface Query {
  readonly sql: string;
  readonly values: readonly QueryValue[];
}

/** A row: integers come as bigint, sums may come as text. */
export type Row = Readonly<Record<string, unknown>>;

/** Asks the books. Rejects with a LedgerError `unavailable` when they cannot be read. */
export type Ask = (query: Query) => Promise<readonly Row[]>;

/** What SQLite and PostgreSQL say differently; everything else they are asked in the same words. */
export interface Dialect {
  /** The n-th value of a statement, from 1. */
  placeholder(n: number): string;
  /** A column of JSON as the text that was written. */
  json(column: string): string;
  /** The Unix milliseconds in a UUIDv7. */
  idTimeMs(column: string): string;
  /** A list of values in JSON text, one row per element, as a table with the column `value`. */
  elements(json: string): string;
  /** The n-th element, from 0, of a `value` of {@link Dialect.elements}, itself a list. */
  item(n: number, type: "text" | "integer"): string;
  /** What the transfers of one wallet are sorted by to come in the order of their numbers. */
  readonly transferOrder: string;
}

/** Collects the values of one statement; each call of `add` answers with the placeholder that stands for one. */
export interface Values {
  add(value: QueryValue): string;
  readonly all: readonly QueryValue[];
}

export function createValues({ placeholder }: Dialect): Values {
  const all: QueryValue[] = [];
  return { add: (value) => placeholder(all.push(value)), all };
}
