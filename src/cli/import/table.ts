import { readFileSync } from "node:fs";
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
