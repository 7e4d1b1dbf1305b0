import { readFileSync } from "node:fs";
import type { ForeignKey } from "../../accounts/keys/keys.ts";
import { cleanName } from "../../domain/name-characters.ts";
import { CommandError } from "../command.ts";

/** One row of an exported table, by column. */
export type Row = Readonly<Record<string, unknown>>;

/** Reads an exported table: JSON, as a list of objects or an object with one such list, or CSV with a head. */
export function readTable(path: string): readonly Row[] {
  const text = readText(path).replace(/^\uFEFF/, "");
  const rows = /^\s*[[{]/.test(text) ? readJson(text) : readCsv(text);
  if (!rows) throw new CommandError(`${path} is no table: expected JSON objects in a list, or CSV.`);
  return rows;
}

/** Reads a file as text. Throws CommandError without its content. */
export function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw new CommandError(`${path} cannot be read.`);
  }
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

/** @see https://www.rfc-editor.org/rfc/rfc4180 */
function readCsv(text: string): readonly Row[] | undefined {
  const [head, ...lines] = splitCsv(text);
  if (!head || head.length < 2) return undefined;
  return lines
    .filter((cells) => cells.length > 1)
    .map((cells) => Object.fromEntries(head.map((name, index) => [name, cells[index] ?? ""])));
}

function splitCsv(text: string): string[][] {
  const lines: string[][] = [[]];
  for (const [, quoted, plain = "", end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    lines.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ",") lines.push([]);
  }
  return lines;
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
  const text = textOf(value);
  return text === undefined ? undefined : Number(text);
}

export function isTrue(value: unknown): boolean {
  return value === true || value === 1 || ["true", "t", "1"].includes(String(value).toLowerCase());
}

/** Returns the members of a list, of a JSON list in text, of an array of PostgreSQL, or of text with commas. */
export function listOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String);
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
