/** Characters that one chunk has at least, unless it is the last: lines alone would be costly to send. */
const CHUNK_CHARACTERS = 32 * 1024;

/**
 * Answers with pieces of text as they are made. The first chunk is made before the answer begins, so that an
 * early failure has a true status. A later failure breaks the connection off, and never looks complete.
 */
export async function streamText(pieces: AsyncGenerator<string>, headers: HeadersInit): Promise<Response> {
  let chunk: string | undefined = await readChunk(pieces);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (chunk === undefined) return controller.close();
        controller.enqueue(Buffer.from(chunk));
        chunk = await readChunk(pieces);
      },
      async cancel() {
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers });
}

/** `undefined` at the end. */
async function readChunk(pieces: AsyncGenerator<string>): Promise<string | undefined> {
  let chunk = "";
  for (;;) {
    const { done, value } = await pieces.next();
    if (done) return chunk === "" ? undefined : chunk;
    chunk += value;
    if (chunk.length >= CHUNK_CHARACTERS) return chunk;
  }
}

/** The headers of a CSV file that the browser saves. Its name keeps letters, digits, dots and dashes. */
export function csvHeaders(name: string): Record<string, string> {
  const file = name.replace(/[^A-Za-z0-9.-]+/g, "-").slice(0, 100);
  return {
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": `attachment; filename="${file}.csv"`,
  };
}
