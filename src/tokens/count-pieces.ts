const PIECE_LENGTH = 256;
const BYTES_PER_TOKEN = 4;

/** The way out when nothing better is to be had: a quarter of the bytes, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/**
 * Counts a text in short pieces, cut before a space where there is one: a tokenizer takes quadratic
 * time on a word without end. What `isLate` does not leave time for is estimated.
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
