/**
 * A byte-pair vocabulary: the byte strings that are tokens, and their order of merging. Its typed arrays take
 * 7 MB; a map of strings would take 60 MB.
 */
export interface Vocabulary {
  /**
   * Returns the rank of these bytes; lower ranks are merged first. Returns `NO_TOKEN` when they are no token.
   */
  rankOf(bytes: Uint8Array, start: number, end: number): number;
}

export const NO_TOKEN = 0xffff_ffff;

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const SLOTS_PER_TOKEN = 2;
const FNV_OFFSET = 0x811c_9dc5;
const FNV_PRIME = 0x0100_0193;

/**
 * Parses a vocabulary in tiktoken's format: one line per token with its bytes in base64 and its rank. Throws
 * RangeError unless each rank is its line number, counted from 0.
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

/** The concatenated bytes of all tokens, and the end of each. */
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
  // The lowest bits alone are poorly distributed.
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Counts the tokens of a text. Takes quadratic time in the length of a word. */
export type CountText = (text: string) => number;

/**
 * Counts by a vocabulary and the pattern that splits a text into words. Special tokens are counted as text.
 */
export function countByVocabulary(vocabulary: Vocabulary, word: RegExp): CountText {
  const encoder = new TextEncoder();
  return (text) => {
    let tokens = 0;
    for (const [match] of text.matchAll(word)) tokens += countWord(vocabulary, encoder.encode(match));
    return tokens;
  };
}

/** Merges the adjacent pair of the lowest rank, the first of equals, until no pair is a token. */
function countWord({ rankOf }: Vocabulary, bytes: Uint8Array): number {
  if (rankOf(bytes, 0, bytes.length) !== NO_TOKEN) return 1;
  /** Start of each part, followed by the end of the word. */
  const starts = Array.from({ length: bytes.length + 1 }, (_, at) => at);
  const rankAt = (part: number) => {
    const [start, end] = [starts[part], starts[part + 2]];
    return start === undefined || end === undefined ? NO_TOKEN : rankOf(bytes, start, end);
  };
  /** Rank of each part merged with the next one. */
  const ranks = Array.from({ length: bytes.length }, (_, part) => rankAt(part));
  for (;;) {
    const part = indexOfLeast(ranks);
    if (ranks[part] === NO_TOKEN) return ranks.length;
    starts.splice(part + 1, 1);
    ranks.splice(part, 1);
    ranks[part] = rankAt(part);
    if (part > 0) ranks[part - 1] = rankAt(part - 1);
  }
}

function indexOfLeast(ranks: readonly number[]): number {
  let least = 0;
  let leastRank = NO_TOKEN;
  for (let index = 0; index < ranks.length; index++) {
    const rank = ranks[index] ?? NO_TOKEN;
    if (rank < leastRank) {
      least = index;
      leastRank = rank;
    }
  }
  return least;
}
