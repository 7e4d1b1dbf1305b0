import type { CallBody } from "../../src/upstream/upstream.ts";

/** A body that is printed already. */
export function callBodyOf(text: string): CallBody {
  return { bytes: Buffer.byteLength(text), take: () => text };
}
