import type { JsonObject } from "./read.ts";

/** Longer than any of our fields in any spelling. */
const KEY_CHARS_MAX = 64;

/**
 * The first key of a body that is one of these fields but for the case of its letters. Some upstreams read keys
 * without regard to it, and would take a value that was neither checked nor edited here.
 */
export function findMiscased(body: JsonObject, fields: ReadonlySet<string>): string | undefined {
  return Object.keys(body).find(
    (key) => key.length <= KEY_CHARS_MAX && !fields.has(key) && fields.has(foldCase(key)),
  );
}

/** Both ways, because such readers hold the long s for an s and the Kelvin sign for a k. */
function foldCase(key: string): string {
  return key.toUpperCase().toLowerCase();
}
