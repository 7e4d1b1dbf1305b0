/** As much of a body as came, and why no more did. */
export interface BodyText {
  /** Built when called. */
  text(): string;
  /** What broke it off; its text may be whole all the same. */
  readonly fault?: unknown;
}

/** Reads a body; `undefined` when it has more than `bytesMax` bytes, of which the rest is not read. Never rejects. */
export async function readBounded(
  { body }: Response,
  bytesMax: number,
  onBytes: () => void = () => {},
): Promise<BodyText | undefined> {
  const reader = body?.getReader();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
      onBytes();
      pieces.push(piece.value);
      bytes += piece.value.byteLength;
      if (bytes > bytesMax) {
        await reader?.cancel();
        return undefined;
      }
    }
  } catch (fault) {
    return { text: () => decode(pieces), fault };
  }
  return { text: () => decode(pieces) };
}

function decode(pieces: readonly Uint8Array[]): string {
  const [first] = pieces;
  return new TextDecoder().decode(first && pieces.length === 1 ? first : Buffer.concat(pieces));
}
