/** An object of somebody else's JSON: nothing is known of its members. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a member says anything: JSON's null is as good as leaving it out. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Parses a JSON object; `undefined` for any other text. */
export function parseJsonObject(text: string): JsonObject | undefined {
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
