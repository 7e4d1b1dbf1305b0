import { createByteCollector, decodeBlocks } from "../domain/byte-blocks.ts";
import type { AttemptTimeouts } from "./timeouts.ts";

/** Up to this size an answer of known length is read at once. */
const AT_ONCE_BYTES_MAX = 64 * 1024;

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

/**
 * Reads the body of a whole answer. A small one of known length is read at once, which costs least; the idle
 * limit then applies to all of it.
 */
export async function readBody(
  answer: Response,
  bytesMax: number,
  timeouts: AttemptTimeouts,
): Promise<BodyBytes | undefined> {
  const { headers } = answer;
  const length = headers.get("content-length");
  // An answer with a content-length is complete; another may begin long after its headers.
  if (length !== null) timeouts.began();
  // With `transfer-encoding`, HTTP ignores the content-length: the body may be longer.
  const isBounded = length !== null && !headers.has("transfer-encoding");
  if (isBounded && Number(length) <= AT_ONCE_BYTES_MAX) return { blocks: [await answer.bytes()] };
  return readBounded(answer, bytesMax, () => {
    timeouts.began();
    timeouts.progress();
  });
}

/** Decodes a small body as UTF-8. */
export function textOf({ blocks }: BodyBytes): string {
  return decodeBlocks(blocks, { fatal: false });
}
