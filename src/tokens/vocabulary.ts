/**
 * A byte-pair vocabulary: which byte strings are tokens, and which of two is merged first. Held in typed arrays of 7 MB
 * in all, where a map of strings takes 60.
 */
export interface Vocabulary {
  /** Rank of the token of these bytes, lower ones are merged first; `NO_TOKEN` when they are none. */
  rankOf(bytes: Uint8Array, start: number, end: number): number;
}

export const NO_TOKEN = 0xffff_ffff;

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const SLOTS_PER_TOKEN = 2;
const FNV_OFFSET = 0x811c_9dc5;
const FNV_PRIME = 0x0100_0193;

/**
 * Reads a vocabulary in tiktoken's format: a line for each token, its bytes in base64 and its rank, which is the line's
 * number from 0. Throws RangeError for a file with other ranks.
 */
export function readVocabulary(file: Uint8Array): Vocabulary {
  const { bytes, ends } = readTokens(file);
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(ends.length * SLOTS_PER_TOKEN))).fill(NO_TOKEN);
  const mask = slots.length - 1;
  for (let rank = 0; rank < ends.length; rank++) {
    let slot = hashOf(bytes, startOf(ends, rank), ends[rank] ?? 0) & mask;
    while (slots[slot] !== NO_TOKEN) slot = (slot + 1) & mask;
    slots[slot] = rank;
  }

  function isToken(rank: number, other: Uint8Array, start: number, end: number): boolean {
    const from = startOf(ends, rank);
    if ((ends[rank] ?? 0) - from !== end - start) return false;
    for (let at = 0; at < end - start; at++) if (bytes[from + at] !== other[start + at]) return false;
    return true;
  }

  return {
    rankOf(other, start, end) {
      for (let slot = hashOf(other, start, end) & mask; ; slot = (slot + 1) & mask) {
        const rank = slots[slot] ?? NO_TOKEN;
        if (rank === NO_TOKEN || isToken(rank, other, start, end)) return rank;
      }
    },
  };
}

/** The bytes of all tokens, one behind the other, and where each of them ends. */
interface Tokens {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
}

function readTokens(file: Uint8Array): Tokens {
  const bytes = new Uint8Array(file.length);
  const ends: number[] = [];
  const decoder = new TextDecoder("latin1");
  let length = 0;
  for (let start = 0; start < file.length; ) {
    const space = file.indexOf(SPACE, start);
    const lineEnd = file.indexOf(LINE_FEED, start);
    const end = lineEnd < 0 ? file.length : lineEnd;
    const rank = space < 0 || space > end ? undefined : Number(decoder.decode(file.subarray(space, end)));
    if (rank !== ends.length) {
      throw new RangeError("The ranks of the vocabulary are not its line numbers");
    }
    const { written } = bytes.subarray(length).setFromBase64(decoder.decode(file.subarray(start, space)));
    length += written;
    ends.push(length);
    start = end + 1;
  }
  return { bytes: bytes.slice(0, length), ends: Uint32Array.from(ends) };
}

function startOf(ends: Uint32Array, rank: number): number {
  return rank === 0 ? 0 : (ends[rank - 1] ?? 0);
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = FNV_OFFSET;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), FNV_PRIME);
  // The lowest bits of this hash alone are poor.
  return (hash ^ (hash >>> 15)) >>> 0;
}
