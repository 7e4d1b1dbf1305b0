import { type JsonMeasure, measureJson } from "./scan.ts";

/** What is parsed in one piece while others wait, such as the arguments of a call. */
export const PIECE_MAX: JsonMeasure = { values: 100_000, members: 30_000 };
/** Each escape in a string takes a parser as long as a hundred other characters. */
const ESCAPES_MAX = 500_000;
/** The last event of a responses stream repeats the whole answer, with the log probabilities that were asked for. */
export const EVENT_MAX: JsonBounds = { values: 1_000_000, members: 250_000, escapes: ESCAPES_MAX };
/** A whole answer with twenty log probabilities for each token has millions of values. */
export const ANSWER_MAX: JsonMeasure = { values: 4_000_000, members: 4_000_000 };

/** The most structure of a text that is parsed. */
interface JsonBounds extends JsonMeasure {
  /** Backslashes that begin an escape; any number when left out. */
  readonly escapes?: number;
}

const DEFAULT_MAX: JsonBounds = { ...PIECE_MAX, escapes: ESCAPES_MAX };

/** An object of somebody else's JSON: nothing is known of its members. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a member says anything: JSON's null is as good as leaving it out. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/**
 * Parses a JSON object; `undefined` for any other text, and for one of more structure than `most`: by default 100,000
 * values, 30,000 members and 500,000 escapes, which take some tens of milliseconds.
 */
export function parseJsonObject(text: string, most: JsonBounds = DEFAULT_MAX): JsonObject | undefined {
  if (!isWithin(text, most)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A member takes several characters, any value one: what is shorter need not be looked at. */
function isWithin(text: string, most: JsonBounds): boolean {
  if (text.length <= most.members) return true;
  if (most.escapes !== undefined && hasMoreEscapes(text, most.escapes)) return false;
  return measureJson(text, most) !== undefined;
}

function hasMoreEscapes(text: string, most: number): boolean {
  if (text.length <= 2 * most) return false;
  let count = 0;
  for (let at = text.indexOf("\\"); at >= 0 && count <= most; at = text.indexOf("\\", at + 2)) count += 1;
  return count > most;
}

/** The text, or "" for what is none. */
export function readText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The elements, or none for what is no array. */
export function readArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * An optional number of somebody else's usage: 0 when it is left out or null, NaN when it is no number,
 * so that a sum with it is none either.
 */
export function readCount(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return typeof value === "number" ? value : Number.NaN;
}

/**
 * The elements of an array or the values of an object. A long array's elements, copied as an object's values, take a
 * thousand times as long.
 */
export function childrenOf(container: object): readonly unknown[] {
  return Array.isArray(container) ? container : Object.values(container);
}
