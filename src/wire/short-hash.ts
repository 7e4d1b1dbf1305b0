/** The beginning of a text's SHA-256 in hex: the same text always has the same, and nobody reads the text from it. */
export function shortHash(text: string, chars: number): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, chars);
}
