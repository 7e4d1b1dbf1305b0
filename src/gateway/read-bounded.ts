/** Reads a body as text; `undefined` when it has more than `bytesMax` bytes, of which the rest is not read. */
export function readBounded(answer: Response, bytesMax: number): Promise<string | undefined> {
  return isKnownToFit(answer, bytesMax) ? answer.text() : readCounting(answer, bytesMax);
}

/** A length that is announced is kept to by the HTTP client, unless the body is compressed or framed otherwise. */
function isKnownToFit({ headers }: Response, bytesMax: number): boolean {
  const announced = headers.get("content-length");
  const isCoded = headers.has("content-encoding") || headers.has("transfer-encoding");
  return announced !== null && Number(announced) <= bytesMax && !isCoded;
}

async function readCounting(answer: Response, bytesMax: number): Promise<string | undefined> {
  const body = answer.body?.getReader();
  if (!body) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await body.read();
    if (done) return new TextDecoder().decode(Buffer.concat(chunks));
    bytes += value.byteLength;
    if (bytes > bytesMax) {
      await body.cancel();
      return undefined;
    }
    chunks.push(value);
  }
}
