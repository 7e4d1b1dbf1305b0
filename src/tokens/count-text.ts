import { NO_TOKEN, type Vocabulary } from "./vocabulary.ts";

/** Counts the tokens of a text, which takes quadratic time on a word. */
export type CountText = (text: string) => number;

/**
 * Counts by a vocabulary and the pattern of the words that it is applied to; no special token is known, so that a user
 * who writes one ends nothing.
 */
export function countByVocabulary(vocabulary: Vocabulary, word: RegExp): CountText {
  const encoder = new TextEncoder();
  return (text) => {
    let tokens = 0;
    for (const [match] of text.matchAll(word)) tokens += countWord(vocabulary, encoder.encode(match));
    return tokens;
  };
}

/** Merges the pair of the lowest rank, the first of equals, for as long as some pair is a token. */
function countWord({ rankOf }: Vocabulary, bytes: Uint8Array): number {
  if (rankOf(bytes, 0, bytes.length) !== NO_TOKEN) return 1;
  /** Where each part starts, and behind the last one where the word ends. */
  const starts = Array.from({ length: bytes.length + 1 }, (_, at) => at);
  const rankAt = (part: number) => {
    const [start, end] = [starts[part], starts[part + 2]];
    return start === undefined || end === undefined ? NO_TOKEN : rankOf(bytes, start, end);
  };
  /** Of each part together with the next one. */
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
