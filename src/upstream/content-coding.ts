// Work-around of Bun's fetch, as of Bun 1.4.5: with decompression it prints a line to stderr for a body that
// it cannot decode. Delete this file once it does not, together with `bun-fetch.ts`.
import { pipeline, Readable, type Transform } from "node:stream";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";

type Body = ReadableStream<Uint8Array>;

/** Decoders by content coding, without `deflate`, which has two formats. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * Decodes a compressed body as it is read, for hosts that compress although the request accepts only
 * `identity`. Returns the response itself when its coding is unknown. A broken body fails with an error of
 * zlib.
 */
export async function decodeResponse(response: Response): Promise<Response> {
  const coding = response.headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  const { body, status } = response;
  // The Response constructor rejects any other status.
  if (!body || status < 200 || status > 599) return response;
  if (coding === "deflate") return withBody(response, await decodeDeflate(body));
  const create = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  return create ? withBody(response, decode(body, create())) : response;
}

function withBody({ status, headers }: Response, body: Body): Response {
  const kept = new Headers(headers);
  kept.delete("content-encoding");
  // It counts the encoded bytes.
  kept.delete("content-length");
  return new Response(body, { status, headers: kept });
}

type NodeBody = Parameters<typeof Readable.fromWeb>[0];

/** Inflates no further than the body is read: a small body may hold a large one. */
function decode(body: Body, decoder: Transform): Body {
  // The decoder fails with a fault of either stream. Safe because both types name one class at run time.
  pipeline(Readable.fromWeb(body as unknown as NodeBody), decoder, () => {});
  return Readable.toWeb(decoder) as unknown as Body;
}

/** Some hosts send deflate without the zlib header. The first bytes show whether it is there. */
async function decodeDeflate(body: Body): Promise<Body> {
  const reader = body.getReader();
  let first: Awaited<ReturnType<typeof reader.read>> | undefined = await reader.read();
  const [method = 0, flags = 0] = first.value ?? [];
  const hasHeader = (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0;
  const whole: Body = new ReadableStream({
    async pull(controller) {
      const { done, value } = first ?? (await reader.read());
      first = undefined;
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return decode(whole, hasHeader ? createInflate() : createInflateRaw());
}
