import { pipeline, Readable, type Transform } from "node:stream";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";

type Body = ReadableStream<Uint8Array>;

/** Content codings by their names, without `deflate`, of which there are two formats. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * Returns an answer whose body is decoded as it is read, for hosts that compress although the call asked for
 * `identity`; the answer itself when its coding is unknown. A broken body fails with an error of zlib. Bun's own
 * decoder would also print a line that is no JSON to stderr.
 */
export async function decodeAnswer(answer: Response): Promise<Response> {
  const coding = answer.headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  const { body, status } = answer;
  // A response with another status cannot be made.
  if (!body || status < 200 || status > 599) return answer;
  if (coding === "deflate") return withBody(answer, await decodeDeflate(body));
  const create = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  return create ? withBody(answer, decode(body, create())) : answer;
}

function withBody({ status, headers }: Response, body: Body): Response {
  const kept = new Headers(headers);
  kept.delete("content-encoding");
  return new Response(body, { status, headers: kept });
}

type NodeBody = Parameters<typeof Readable.fromWeb>[0];

/** What is read decides how much is inflated: a small body may hold a large one. */
function decode(body: Body, decoder: Transform): Body {
  // The decoder ends with the fault of either of them. Safe because both names are of one class at run time.
  pipeline(Readable.fromWeb(body as unknown as NodeBody), decoder, () => {});
  return Readable.toWeb(decoder) as unknown as Body;
}

/** Some hosts send deflate without the header of zlib, which only the first bytes show. */
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
