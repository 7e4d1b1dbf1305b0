/** A body of up to this many bytes whose length is announced is on its way as a whole. */
const SHORT_BYTES_MAX = 256 * 1024;

/**
 * Reads a body as text; `undefined` when it has more than `bytesMax` bytes, of which the rest is not read.
 * `onBytes` is called for every piece; once, before the body, for one that is short and complete.
 */
export function readBounded(
  answer: Response,
  bytesMax: number,
  onBytes: () => void = () => {},
): Promise<string | undefined> {
  if (!isShort(answer, bytesMax)) return readCounting(answer, bytesMax, onBytes);
  onBytes();
  return answer.text();
}

/** A length that is announced is kept to by the HTTP client, unless the body is compressed or framed otherwise. */
function isShort({ headers }: Response, bytesMax: number): boolean {
  const announced = headers.get("content-length");
  const isCoded = headers.has("content-encoding") || headers.has("transfer-encoding");
  return announced !== null && Number(announced) <= Math.min(bytesMax, SHORT_BYTES_MAX) && !isCoded;
}

async function readCounting(
  answer: Response,
  bytesMax: number,
  onBytes: () => void,
): Promise<string | undefined> {
  const body = answer.body?.getReader();
  if (!body) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await body.read();
    if (done) return new TextDecoder().decode(Buffer.concat(chunks));
    onBytes();
    bytes += value.byteLength;
    if (bytes > bytesMax) {
      await body.cancel();
      return undefined;
    }
    chunks.push(value);
  }
}
