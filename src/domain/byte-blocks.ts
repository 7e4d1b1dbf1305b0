/** A first block holds this much; each further one as much as came so far, within these two. */
const BLOCK_BYTES_MIN = 4 * 1024;
const BLOCK_BYTES_MAX = 1024 * 1024;

/**
 * Bytes that come piece by piece, copied together into blocks: ten million pieces of one byte take ten megabytes. A
 * first piece that stays the only one is not copied.
 */
export interface ByteCollector {
  readonly bytes: number;
  add(piece: Uint8Array): void;
  /** What came, in order; the collector is empty afterwards. Each block has a buffer of its own. */
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
  function copy(piece: Uint8Array): void {
    for (let from = 0; from < piece.byteLength; ) {
      if (used === open.byteLength) openBlock();
      const part = piece.subarray(from, from + open.byteLength - used);
      open.set(part, used);
      used += part.byteLength;
      from += part.byteLength;
    }
  }
  return {
    get bytes() {
      return bytes;
    },
    add(piece) {
      const isFirst = bytes === 0 && ownsItsBuffer(piece);
      bytes += piece.byteLength;
      if (isFirst) {
        first = piece;
        return;
      }
      if (first) copy(first);
      first = undefined;
      copy(piece);
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

/** Whether nothing else can lie in the buffer, which may change threads with the piece. */
function ownsItsBuffer({ buffer, byteLength }: Uint8Array): boolean {
  return byteLength > 0 && buffer.byteLength === byteLength;
}

/** How many bytes some blocks have together. */
export function bytesOf(blocks: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const block of blocks) bytes += block.byteLength;
  return bytes;
}

/** The text of blocks of UTF-8. Throws a `TypeError` for bytes that are none, when `fatal`; else replaces them. */
export function decodeBlocks(blocks: readonly Uint8Array[], { fatal }: { readonly fatal: boolean }): string {
  const decoder = new TextDecoder("utf-8", { fatal });
  const [only, ...others] = blocks;
  if (only && others.length === 0) return decoder.decode(only);
  let text = "";
  for (const block of blocks) text += decoder.decode(block, { stream: true });
  return text + decoder.decode();
}
