import type { Metadata } from "../ledger.ts";

const BYTES_MAX = 4096;
/** Objects and lists within each other; a receipt has to fit in a message, whose readers stop at some depth. */
const DEPTH_MAX = 30;
/** A name that not every reader of JSON gives to an object; after a backslash it is the end of another name. */
const LOST_NAME = /(?<!\\)"__proto__":/;

/**
 * The caller's JSON in print, `undefined` for none; `null` when it is no object, above 4 KiB, nested deeper
 * than 30, or has the name "__proto__".
 */
export function printMetadata(metadata: Metadata | undefined): string | undefined | null {
  if (metadata === undefined) return undefined;
  const printed = print(metadata);
  if (!printed?.startsWith("{") || Buffer.byteLength(printed) > BYTES_MAX) return null;
  return depthOf(printed) > DEPTH_MAX || LOST_NAME.test(printed) ? null : printed;
}

/** Whether two prints say the same. The names of an object have no order: not every sender keeps one. */
export function isSameMetadata(one: string | undefined, other: string | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined || one.length !== other.length) return false;
  return Bun.deepEquals(JSON.parse(one), JSON.parse(other), true);
}

function print(metadata: Metadata): string | undefined {
  try {
    return JSON.stringify(metadata);
  } catch {
    // A circle or a bigint: nothing that JSON can say.
    return undefined;
  }
}

function depthOf(printed: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of printed.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").matchAll(/[[\]{}]/g)) {
    depth += bracket === "[" || bracket === "{" ? 1 : -1;
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}
