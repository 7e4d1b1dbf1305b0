import { createByteCollector, decodeBlocks } from "../domain/byte-blocks.ts";

/** As much of a body as came, and why no more did. */
export interface BodyBytes {
  readonly blocks: readonly Uint8Array[];
  /** What broke it off; it may be whole all the same. */
  readonly fault?: unknown;
}

/** Reads a body; `undefined` when it has more than `bytesMax` bytes, of which the rest is not read. Never rejects. */
export async function readBounded(
  { body }: Response,
  bytesMax: number,
  onBytes: () => void = () => {},
): Promise<BodyBytes | undefined> {
  const reader = body?.getReader();
  const collector = createByteCollector();
  try {
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
      onBytes();
      collector.add(piece.value);
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

/** The text of a small body. */
export function textOf({ blocks }: BodyBytes): string {
  return decodeBlocks(blocks, { fatal: false });
}
