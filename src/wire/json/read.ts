import { type JsonMeasure, measureJson } from "./scan.ts";

/** Bound of a JSON text that is parsed without yielding, such as the arguments of a tool call. */
export const PIECE_MAX: JsonMeasure = { values: 100_000, members: 30_000 };
/** An escape in a string costs a parser as much as a hundred other characters. */
const ESCAPES_MAX = 500_000;
/**
 * Bound of one stream event. The last one of a responses stream repeats the answer with log probabilities.
 */
export const EVENT_MAX: JsonBounds = { values: 1_000_000, members: 250_000, escapes: ESCAPES_MAX };
/** Bound of a whole answer. Twenty log probabilities for each token make millions of values. */
export const ANSWER_MAX: JsonMeasure = { values: 4_000_000, members: 4_000_000 };

/** The largest structure of a text that is parsed. */
export interface JsonBounds extends JsonMeasure {
  /** Largest number of escapes in strings; unbounded when omitted. */
  readonly escapes?: number;
}

const DEFAULT_MAX: JsonBounds = { ...PIECE_MAX, escapes: ESCAPES_MAX };
/** A key that folding leaves unchanged. */
const LOWER_CASE = /^[a-z0-9_]*$/;
/** Longer than every field that the gateway checks, in any spelling. */
const KEY_CHARS_MAX = 64;

/** A parsed JSON object whose members have not been checked. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns whether a member has a value: null counts as omitted. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/**
 * Parses a JSON object. Returns `undefined` for any other text, and for a text with more structure than
 * `max`. The default of 100,000 values, 30,000 members and 500,000 escapes parses in some tens of
 * milliseconds.
 */
export function parseJsonObject(text: string, max: JsonBounds = DEFAULT_MAX): JsonObject | undefined {
  const value = isWithin(text, max) ? parseAnyJson(text) : undefined;
  return isJsonObject(value) ? value : undefined;
}

/** Parses a JSON text, however much structure it has. Returns `undefined` for any other text. */
export function parseAnyJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns whether a text has at most so much structure, before it is parsed. A member takes several characters and
 * a value at least one, so that shorter texts are not scanned.
 */
export function isWithin(text: string, max: JsonBounds): boolean {
  if (text.length <= max.members) return true;
  if (max.escapes !== undefined && hasMoreEscapes(text, max.escapes)) return false;
  return measureJson(text, max) !== undefined;
}

function hasMoreEscapes(text: string, escapesMax: number): boolean {
  if (text.length <= 2 * escapesMax) return false;
  let count = 0;
  for (let at = text.indexOf("\\"); at >= 0 && count <= escapesMax; at = text.indexOf("\\", at + 2))
    count += 1;
  return count > escapesMax;
}

/** Returns a string, or "" for any other value. */
export function readText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns an array, or an empty one for any other value. */
export function readArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the objects of an array; none for any other value. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return readArray(value).filter(isJsonObject);
}

/**
 * Reads an optional number of a provider's usage: 0 when omitted or null, NaN for any other type. NaN makes
 * every sum with it invalid.
 */
export function readCount(value: unknown): number {
  return isSet(value) ? readTotal(value) : 0;
}

/** Reads a number of a provider's usage that must be there: NaN for anything else. */
export function readTotal(value: unknown): number {
  return typeof value === "number" ? value : Number.NaN;
}

/**
 * Returns the first key that differs from one of the fields only in the case of its letters. Some upstreams
 * match keys case-insensitively and would read a value that the gateway has neither checked nor edited.
 */
export function findMiscased(body: JsonObject, fields: ReadonlySet<string>): string | undefined {
  for (const key of Object.keys(body)) {
    const mayBeMiscased = key.length <= KEY_CHARS_MAX && !LOWER_CASE.test(key);
    if (mayBeMiscased && !fields.has(key) && fields.has(foldCase(key))) return key;
  }
  return undefined;
}

/** Folds upwards, then downwards: case-insensitive readers take "ſ" for "s" and the Kelvin sign for "k". */
function foldCase(key: string): string {
  return key.toUpperCase().toLowerCase();
}

/**
 * Prints a JSON object from members whose values are JSON text. Omits `undefined` values and does not escape
 * names. Concatenates strings, because the engine copies a concatenated string only once, when it is read.
 */
export function joinMembers(members: Readonly<Record<string, string | undefined>>): string {
  let joined = "";
  for (const name in members) {
    const json = members[name];
    if (json !== undefined) joined += `${joined && ","}"${name}":${json}`;
  }
  return `{${joined}}`;
}

/** Prints a JSON array from elements that are JSON text. */
export function joinElements(elements: readonly string[]): string {
  let joined = "";
  for (const json of elements) joined += joined === "" ? json : `,${json}`;
  return `[${joined}]`;
}

/** Prints each member of an object as JSON, for {@link joinMembers}. */
export function printMembers(members: Readonly<Record<string, unknown>>): Record<string, string | undefined> {
  const printed: Record<string, string | undefined> = {};
  for (const name in members) printed[name] = JSON.stringify(members[name]);
  return printed;
}
