import type { ForeignKey } from "../../accounts/keys/keys.ts";
import { cleanName } from "../../domain/name-characters.ts";
import { isTrue, type Row, textOf } from "./table.ts";

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
