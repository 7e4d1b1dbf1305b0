import { measureJson } from "./json-scan.ts";

/** Above this a parser takes tenths of a second, and what reads its values takes seconds. */
const VALUES_MAX = 1_000_000;
/** A whole answer with twenty log probabilities for each token has millions of values. */
export const ANSWER_VALUES_MAX = 4_000_000;

/** An object of somebody else's JSON: nothing is known of its members. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a member says anything: JSON's null is as good as leaving it out. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Parses a JSON object; `undefined` for any other text, and for one of more than so many values. */
export function parseJsonObject(text: string, valuesMax = VALUES_MAX): JsonObject | undefined {
  // A value takes a character at least: what is shorter need not be counted.
  if (text.length > valuesMax && measureJson(text).values > valuesMax) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
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
