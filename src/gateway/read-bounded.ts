/** Reads a body as text; `undefined` when it has more than `bytesMax` bytes, of which the rest is not read. */
export async function readBounded(answer: Response, bytesMax: number): Promise<string | undefined> {
  const body = answer.body?.getReader();
  if (!body) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await body.read();
    if (done) return new TextDecoder().decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    bytes += value.byteLength;
    if (bytes > bytesMax) {
      await body.cancel();
      return undefined;
    }
    chunks.push(value);
  }
}
