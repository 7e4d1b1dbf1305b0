import { BYTES_PER_TOKEN } from "../domain/usage.ts";

const PIECE_LENGTH = 256;
/** A slice has about 500 words, so that words cut at its ends do not matter. */
const SLICE_CHARS = 2_048;
/** UTF-8 bytes of one UTF-16 unit. */
const BYTES_PER_CHAR_MAX = 3;

/** Estimates tokens without a vocabulary: a quarter of the bytes, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/**
 * Counts a text in pieces of at most 256 characters, because a tokenizer takes quadratic time on a long word.
 * Cuts before a space where possible. Estimates the remaining text once `isLate` returns true.
 */
export function countPieces(text: string, count: (piece: string) => number, isLate: () => boolean): number {
  let tokens = 0;
  let start = 0;
  while (start < text.length) {
    if (isLate()) return tokens + estimateTokens(text.slice(start));
    const end = pieceEnd(text, start);
    tokens += count(text.slice(start, end));
    start = end;
  }
  return tokens;
}

function pieceEnd(text: string, start: number): number {
  const end = start + PIECE_LENGTH;
  if (end >= text.length) return text.length;
  const space = text.lastIndexOf(" ", end);
  if (space > start) return space;
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/**
 * Returns slices from all over a text, together at most `bytesMax` bytes. Each has a random position within
 * its share of the text: a sender who knew the positions could put only cheap words there.
 */
export function sampleText(text: string, bytesMax: number, random: () => number = Math.random): string {
  const slices = Math.max(1, Math.floor(bytesMax / (SLICE_CHARS * BYTES_PER_CHAR_MAX)));
  const share = text.length / slices;
  const freedom = Math.max(0, share - SLICE_CHARS);
  let sample = "";
  for (let index = 0; index < slices; index++) {
    const start = Math.floor(index * share + random() * freedom);
    sample += text.slice(start, start + SLICE_CHARS);
  }
  return sample;
}
