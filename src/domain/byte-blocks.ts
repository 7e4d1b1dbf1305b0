/** The size of the first block. Each further block is as large as all bytes so far, up to the maximum. */
const BLOCK_BYTES_MIN = 4 * 1024;
const BLOCK_BYTES_MAX = 1024 * 1024;

/**
 * Collects chunks of bytes into blocks, so that ten million chunks of one byte take 10 MB. A first chunk that
 * stays the only one is not copied.
 */
interface ByteCollector {
  readonly bytes: number;
  add(chunk: Uint8Array): void;
  /** Returns the bytes in order and empties the collector. Each block has its own buffer. */
  take(): readonly Uint8Array[];
}

export function createByteCollector(): ByteCollector {
  let first: Uint8Array | undefined;
  let full: Uint8Array[] = [];
  let open = new Uint8Array(0);
  let used = 0;
  let bytes = 0;

  function openBlock(): void {
    if (used > 0) full.push(open);
    open = new Uint8Array(Math.min(Math.max(bytes, BLOCK_BYTES_MIN), BLOCK_BYTES_MAX));
    used = 0;
  }
  function copy(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.byteLength; ) {
      if (used === open.byteLength) openBlock();
      const part = chunk.subarray(from, from + open.byteLength - used);
      open.set(part, used);
      used += part.byteLength;
      from += part.byteLength;
    }
  }
  return {
    get bytes() {
      return bytes;
    },
    add(chunk) {
      const isFirst = bytes === 0 && ownsItsBuffer(chunk);
      bytes += chunk.byteLength;
      if (isFirst) {
        first = chunk;
        return;
      }
      if (first) copy(first);
      first = undefined;
      copy(chunk);
    },
    take() {
      const copied = used > 0 ? [...full, open.subarray(0, used)] : full;
      const blocks = first ? [first] : copied;
      first = undefined;
      full = [];
      open = new Uint8Array(0);
      used = 0;
      bytes = 0;
      return blocks;
    },
  };
}

/** Returns whether the chunk spans its whole buffer, which can then be transferred to another thread. */
function ownsItsBuffer({ buffer, byteLength }: Uint8Array): boolean {
  return byteLength > 0 && buffer.byteLength === byteLength;
}

export function bytesOf(blocks: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const block of blocks) bytes += block.byteLength;
  return bytes;
}

/** Copies the blocks into one. */
export function joinBlocks(blocks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  // Not zeroed first, and with a buffer of its own, which can be transferred.
  const joined = Buffer.allocUnsafeSlow(bytesOf(blocks));
  let at = 0;
  for (const block of blocks) {
    joined.set(block, at);
    at += block.byteLength;
  }
  return joined;
}

/** Decoders of whole texts. They keep no state, because they never decode a part of a stream. */
const FATAL_DECODER = new TextDecoder("utf-8", { fatal: true });
const REPLACING_DECODER = new TextDecoder();

/** Decodes UTF-8. Throws TypeError for invalid bytes when `fatal`; replaces them otherwise. */
export function decodeBlocks(blocks: readonly Uint8Array[], { fatal }: { readonly fatal: boolean }): string {
  if (blocks.length === 1) return (fatal ? FATAL_DECODER : REPLACING_DECODER).decode(blocks[0]);
  const decoder = new TextDecoder("utf-8", { fatal });
  let text = "";
  for (const block of blocks) text += decoder.decode(block, { stream: true });
  return text + decoder.decode();
}
