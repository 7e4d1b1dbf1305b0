import { createByteCollector, decodeBlocks } from "../domain/byte-blocks.ts";

/** The bytes of a body that came, and the fault that cut it off. */
export interface BodyBytes {
  readonly blocks: readonly Uint8Array[];
  /** The fault that ended the connection. A body whose connection broke may still be complete. */
  readonly fault?: unknown;
}

/**
 * Reads the body of a response. Returns `undefined` when it is larger than `bytesMax`; the rest is not read
 * then. Never rejects. Calls `onBytes` after each chunk.
 */
export async function readBounded(
  { body }: Response,
  bytesMax: number,
  onBytes: () => void = () => {},
): Promise<BodyBytes | undefined> {
  const reader = body?.getReader();
  const collector = createByteCollector();
  try {
    for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
      onBytes();
      collector.add(chunk.value);
      if (collector.bytes > bytesMax) {
        await reader?.cancel();
        return undefined;
      }
    }
  } catch (fault) {
    return { blocks: collector.take(), fault };
  }
  return { blocks: collector.take() };
}

/** Decodes a small body as UTF-8. */
export function textOf({ blocks }: BodyBytes): string {
  return decodeBlocks(blocks, { fatal: false });
}
