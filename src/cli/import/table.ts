import type { ForeignKey } from "../../accounts/keys/keys.ts";
import { cleanName } from "../../domain/name-characters.ts";
import { CommandError } from "../command.ts";
import { readQuotedLines, readStart, readText } from "./text-file.ts";

/** One row of an exported table, by column. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * Reads an exported table: JSON, as a list of objects or an object with one such list, or CSV with a head. The rows of
 * CSV are read one by one, so that a file may be larger than the memory.
 */
export function readTable(path: string): Iterable<Row> {
  const start = readStart(path);
  const rows = /^\s*[[{]/.test(start) ? readJson(readText(path)) : readCsv(start, path);
  if (!rows) throw noTable(path);
  return rows;
}

export function noTable(path: string): CommandError {
  return new CommandError(`${path} is no table: expected JSON objects in a list, or CSV.`);
}

function readJson(text: string): readonly Row[] | undefined {
  const parsed = parseJson(text);
  const list: readonly unknown[] | undefined = Array.isArray(parsed)
    ? parsed
    : Object.values(parsed ?? {}).find((member) => Array.isArray(member));
  return list?.every((each: unknown): each is Row => typeof each === "object" && each !== null)
    ? list
    : undefined;
}

function parseJson(text: string): readonly unknown[] | Row | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readCsv(start: string, path: string): Iterable<Row> | undefined {
  const separator = findSeparator(start);
  const lines = splitCsv(path, separator);
  const first = lines.next();
  const head = first.done ? [] : first.value.map((name) => name.trim());
  const repeated = head.find((name, index) => name !== "" && head.indexOf(name) < index);
  if (repeated !== undefined)
    throw new CommandError(`${path} has two columns of the name ${JSON.stringify(repeated)}.`);
  return head.length < 2 ? undefined : readCsvRows(head, lines, { separator, path });
}

function findSeparator(start: string): string {
  const [head = ""] = start.split(/[\r\n]/, 1);
  const counts = [",", ";", "\t"].map((each) => [each, head.split(each).length] as const);
  return counts.reduce((most, each) => (each[1] > most[1] ? each : most))[0];
}

/** Reads the rows of a table. Rejects a row of another length than its head: a lost cell may be the limit of a key. */
function* readCsvRows(
  head: readonly string[],
  lines: Iterable<readonly string[]>,
  { separator, path }: { readonly separator: string; readonly path: string },
): Generator<Row> {
  // A table that a spreadsheet wrote with semicolons has decimal commas.
  const isDecimal = (cell: string) => separator === ";" && /^-?\d+,\d+$/.test(cell);
  let number = 1;
  for (const cells of lines) {
    number += 1;
    if (cells.length === 1 && cells[0]?.trim() === "") continue;
    if (cells.length !== head.length)
      throw new CommandError(
        `${path} has ${cells.length} cells in row ${number}, and ${head.length} in its head.`,
      );
    const row: Record<string, string> = {};
    for (const [index, cell] of cells.entries())
      row[head[index] ?? ""] = isDecimal(cell) ? cell.replace(",", ".") : cell;
    yield row;
  }
}

/** Splits a text into the cells of its rows. @see https://www.rfc-editor.org/rfc/rfc4180 */
function* splitCsv(path: string, separator: string): Generator<readonly string[]> {
  const cell = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^"${separator}\\r\\n]*))(${separator}|$)`, "y");
  for (const line of readQuotedLines(path)) {
    const row = line.endsWith("\r") ? line.slice(0, -1) : line;
    const cells = row.includes('"') ? readQuoted(row, cell) : row.split(separator);
    if (!cells) throw new CommandError(`${path} has a quotation mark that does not end a cell.`);
    yield cells;
  }
}

/** Reads cells that `cell` matches. Returns `undefined` for a quotation mark that does not end one. */
function readQuoted(row: string, cell: RegExp): readonly string[] | undefined {
  const cells: string[] = [];
  cell.lastIndex = 0;
  for (;;) {
    const [all, quoted, plain = "", end] = cell.exec(row) ?? [];
    if (all === undefined) return undefined;
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "") return cells;
  }
}

/** Returns a text, `undefined` for an absent or empty one. */
export function textOf(value: unknown): string | undefined {
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" || text.toLowerCase() === "null" ? undefined : text;
}

/** Returns a number, `undefined` for an absent one, and NaN for anything else. */
export function numberOf(value: unknown): number | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "number") return value;
  if (typeof value !== "string") return Number.NaN;
  const text = textOf(value);
  return text === undefined ? undefined : Number(text);
}

export function isTrue(value: unknown): boolean {
  return value === true || value === 1 || ["true", "t", "1"].includes(textOf(value)?.toLowerCase() ?? "");
}

/** Returns the members of a list, of a JSON list in text, of an array of PostgreSQL, or of text with commas. */
export function listOf(value: unknown): readonly string[] {
  if (Array.isArray(value))
    return value.map((each: unknown) => (typeof each === "object" ? JSON.stringify(each) : String(each)));
  const text = textOf(value)?.replace(/^[[{]|[\]}]$/g, "") ?? "";
  const names = text.split(",").map((name) => name.trim().replace(/^"|"$/g, ""));
  return names.filter((name) => name !== "");
}

/** A key of an exported table, as far as it can be imported. */
export interface ReadKey {
  readonly name: string;
  /** Who owns the key there, such as "team growth" or "user 7"; `undefined` without an owner. */
  readonly owner: string | undefined;
  /** Columns that are set and have no counterpart here. Importing the key would drop them. */
  readonly lost: readonly string[];
  /** The key without an account, or why it cannot be imported. */
  readonly key: Omit<ForeignKey, "accountId" | "name"> | { readonly problem: string };
}

/** How the rows of one gateway are read. */
export interface KeyReader {
  read(row: Row, nowMs: number): Omit<ReadKey, "lost">;
  /** Columns that are read, or that bound nothing. Every other column that is set is lost. */
  readonly columns: ReadonlySet<string>;
  /** Returns further parts of a row that have no counterpart, such as members of a JSON column. */
  findLost(row: Row): readonly string[];
}

/** Reads a row. What a later version of the other gateway adds is unknown, so that it counts as lost. */
export function readKey({ read, columns, findLost }: KeyReader, row: Row, nowMs: number): ReadKey {
  const unknown = Object.keys(row).filter((name) => !columns.has(name) && isFilled(row[name]));
  const { name, ...key } = read(row, nowMs);
  return { ...key, name: cleanName(name) || "imported", lost: [...unknown, ...findLost(row)] };
}

/** Whether a column has a value: no empty text, list or object, and not false. */
export function isFilled(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  const text = textOf(value);
  if (typeof value === "string") return text !== undefined && !/^(\{\s*\}|\[\s*\]|f|false)$/i.test(text);
  return value !== null && value !== undefined && value !== false;
}

/** The deletion of a row that its table keeps. */
export function isDeleted(row: Row): boolean {
  return isFilled(row.deleted_at) || isTrue(row.is_deleted);
}

/** Reads a JSON object of a column, also as text. `undefined` for anything else. */
export function objectOf(value: unknown): Row | undefined {
  const parsed = typeof value === "string" ? parse(value) : value;
  const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
  return isObject ? { ...parsed } : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
