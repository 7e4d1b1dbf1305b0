import type { Value } from "../queries/rows.ts";

/**
 * Encodes values as the text of a PostgreSQL array, which a statement casts to the type it needs.
 * @see https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO
 */
export function encodeArray(values: Iterable<Value>): string {
  let encoded = "";
  for (const value of values) {
    if (encoded !== "") encoded += ",";
    encoded +=
      typeof value === "string" ? `"${escapeQuotes(value)}"` : value === null ? "NULL" : String(value);
  }
  return `{${encoded}}`;
}

/**
 * Encodes rows as one array per column, for `unnest` of several arrays. All rows have the first row's length.
 */
export function encodeColumns(rows: readonly (readonly Value[])[]): string[] {
  const width = rows[0]?.length ?? 0;
  const columns: string[] = [];
  for (let column = 0; column < width; column++) {
    columns.push(encodeArray(rows.map((row) => row[column] ?? null)));
  }
  return columns;
}

/**
 * Encodes rows as one array of a row type, for `unnest`. For wide rows, the server needs half the time of one
 * array per column.
 * @see https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-IO-SYNTAX
 */
export function encodeRows(rows: readonly (readonly Value[])[]): string {
  let encoded = "";
  for (const row of rows) {
    let fields = "";
    for (const value of row) {
      if (value === null) fields += ",";
      else fields += typeof value === "string" ? `,${encodeField(value)}` : `,${value}`;
    }
    encoded += `${encoded === "" ? "" : ","}"(${fields.slice(1)})"`;
  }
  return `{${encoded}}`;
}

/** A text that means itself in a row without quotes. An empty text would mean null. */
const PLAIN = /^[\w.:/-]+$/;

/** Encodes a text of a row. A quote or backslash is escaped twice: for the row and for the array. */
function encodeField(text: string): string {
  if (PLAIN.test(text)) return text;
  const escaped = text.includes("\\") ? text.replaceAll("\\", "\\\\\\\\") : text;
  return `\\"${escaped.replaceAll('"', '\\"\\"')}\\"`;
}

function escapeQuotes(text: string): string {
  return /["\\]/.test(text) ? text.replace(/["\\]/g, "\\$&") : text;
}
