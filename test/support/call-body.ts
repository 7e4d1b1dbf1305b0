import type { CallBody } from "../../src/upstream/upstream.ts";

/** Wraps an encoded text as the body of an upstream call. */
export function callBodyOf(text: string): CallBody {
  return { bytes: Buffer.byteLength(text), take: () => text };
}
