import { LedgerError } from "../ledger.ts";
import { PAGE_SIZE_MAX, type Page, type PageRequest } from "../records.ts";

// The parts of every query of the ledger: statements, their values, and the SQL that differs by database.

/** A value of a statement. Bigints are integers of 64 bits. */
export type QueryValue = string | number | bigint | null;

/** A statement that only reads, with the values of its placeholders. */
export interface Query {
  readonly sql: string;
  readonly values: readonly QueryValue[];
}

/** A row. Integers are bigints; sums may be text. */
export type Row = Readonly<Record<string, unknown>>;

/** Runs a query. Rejects with LedgerError `unavailable` when the database cannot be read. */
export type RunQuery = (query: Query) => Promise<readonly Row[]>;

/** The SQL that differs between SQLite and PostgreSQL. */
export interface Dialect {
  /** The placeholder of the n-th value of a statement, from 1. */
  placeholder(n: number): string;
  /** A JSON column as the text that was written. */
  json(column: string): string;
  /** The Unix milliseconds in a column of UUIDv7s. */
  idTimeMs(column: string): string;
  /** Expressions of integers as the text of a JSON array: rows with few columns are cheap to pass on. */
  array(expressions: readonly string[]): string;
  /** A JSON array as a table: one row per element, with the column `value`. */
  elements(json: string): string;
  /** The n-th element, from 0, of a `value` of {@link Dialect.elements} that is an array itself. */
  item(n: number, type: "text" | "integer" | "uuid"): string;
  /** A member of a JSON object as text: `name` is a placeholder. NULL when the object lacks it. */
  member(column: string, name: string): string;
  /** The part of a text before the first separator, a character; all of a text without one. */
  firstPart(text: string, separator: string): string;
  /** The table of holds, read by the index of open holds where the planner would not choose it. */
  readonly openHolds: string;
  /** The order of the primary key of holds. */
  readonly holdsKey: "wallet first" | "id first";
  /** The column that orders the transfers of one wallet by their numbers. */
  readonly transferOrder: string;
}

export const SQLITE: Dialect = {
  placeholder: (n) => `?${n}`,
  json: (column) => column,
  // JSON5 has hexadecimal numbers; SQL has none.
  idTimeMs: (column) => `(('0x' || substr(${column}, 1, 8) || substr(${column}, 10, 4)) ->> '$')`,
  array: (expressions) => `json_array(${expressions.join(", ")})`,
  elements: (json) => `json_each(${json})`,
  item: (n) => `value ->> ${n}`,
  member: (column, name) => `(SELECT CASE type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
    WHEN 'null' THEN 'null' ELSE CAST(value AS text) END FROM json_each(${column}) WHERE key = ${name} LIMIT 1)`,
  firstPart: (text, separator) => `substr(${text}, 1, instr(${text} || '${separator}', '${separator}') - 1)`,
  openHolds: "holds INDEXED BY holds_open",
  holdsKey: "id first",
  // The index by wallet ends with the number of the row, and rows are inserted in order of their numbers.
  transferOrder: "rowid",
};

export const POSTGRES: Dialect = {
  placeholder: (n) => `$${n}`,
  // Without the cast, the driver would parse the JSON, and its text would be lost.
  json: (column) => `${column}::text`,
  idTimeMs: (column) =>
    `('x' || substr(${column}::text, 1, 8) || substr(${column}::text, 10, 4))::bit(48)::bigint`,
  array: (expressions) => `json_build_array(${expressions.join(", ")})::text`,
  elements: (json) => `json_array_elements(${json}::text::json)`,
  item: (n, type) =>
    type === "text" ? `value ->> ${n}` : `(value ->> ${n})::${type === "uuid" ? type : "bigint"}`,
  member: (column, name) =>
    `(SELECT coalesce(value, 'null') FROM json_each_text(${column}) WHERE key = ${name} LIMIT 1)`,
  firstPart: (text, separator) => `split_part(${text}, '${separator}', 1)`,
  openHolds: "holds",
  holdsKey: "wallet first",
  transferOrder: "seq",
};

/** Collects the values of one statement. `add` returns the placeholder of a value. */
export interface Values {
  add(value: QueryValue): string;
  readonly all: readonly QueryValue[];
}

export function createValues({ placeholder }: Dialect): Values {
  const all: QueryValue[] = [];
  return { add: (value) => placeholder(all.push(value)), all };
}

const TEXT_CHARACTERS_MAX = 1_000;

/**
 * Whether a text can be in the database; no other text is queried. PostgreSQL rejects NUL, and a lone
 * surrogate would be sent as another character.
 */
export function isStorable(text: string): boolean {
  return text.length <= TEXT_CHARACTERS_MAX && text.isWellFormed() && !text.includes("\0");
}

const TOKEN_CHARACTERS_MAX = 4_000;

/** A list that is read page by page, each page from the end of the previous one. */
export interface PagedList {
  /** Identifies the list and its filter. A token of one list is invalid for any other. */
  readonly name: readonly unknown[];
  /** Whether a text can be the position of an item of this list. */
  isPosition(text: string): boolean;
}

interface PageStart {
  /** The position of the last item of the previous page. */
  readonly after: string | undefined;
  /** The rows to query: one more than the page has, which shows whether another page follows. */
  readonly rowsMax: number;
}

/** Reads a page request. A token is trusted for its position only. Throws `invalid_query`. */
export function readPage(list: PagedList, { size, token }: PageRequest): PageStart {
  if (!Number.isInteger(size) || size < 1 || size > PAGE_SIZE_MAX) throw new LedgerError("invalid_query");
  return { after: token === undefined ? undefined : readToken(list, token), rowsMax: size + 1 };
}

interface PageRows<Row, Item> {
  readonly rows: readonly Row[];
  read(row: Row): Item;
  positionOf(item: Item): string;
}

/** Makes the page of the rows that were queried. */
export function createPage<Row, Item>(
  list: PagedList,
  { size }: PageRequest,
  { rows, read, positionOf }: PageRows<Row, Item>,
): Page<Item> {
  const items = rows.slice(0, size).map(read);
  const last = items.at(-1);
  const isLast = rows.length <= size || last === undefined;
  return { items, nextToken: isLast ? undefined : printToken(list, positionOf(last)) };
}

/** The token of the page after a position. */
export function printToken(list: PagedList, position: string): string {
  return Buffer.from(`${markOf(list)} ${position}`).toString("base64url");
}

function readToken(list: PagedList, token: string): string {
  const text = token.length <= TOKEN_CHARACTERS_MAX ? Buffer.from(token, "base64url").toString() : "";
  const mark = `${markOf(list)} `;
  const position = text.slice(mark.length);
  const isOurs = text.startsWith(mark) && list.isPosition(position) && printToken(list, position) === token;
  if (!isOurs) throw new LedgerError("invalid_query");
  return position;
}

/** A hash of the list's name. Equal in every process, so that any replica can serve the next page. */
function markOf({ name }: PagedList): string {
  return Bun.CryptoHasher.hash("sha256", JSON.stringify(name), "hex").slice(0, 16);
}
