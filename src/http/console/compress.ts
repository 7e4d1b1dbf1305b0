import { promisify } from "node:util";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";
import { acceptedCodings } from "../accepted-codings.ts";
import { pathOf } from "../identity.ts";

/** Below it, a coding saves nothing that a network would notice. Every secret that is asked for is shorter. */
const BYTES_MIN = 4_096;
/** Webhooks' addresses may hold secrets. */
const HAS_SECRETS = /\/notice-rules(\/|$)/;

const gzipped = promisify(gzip);
const brotlied = promisify(brotliCompress);
const zstded = promisify(zstdCompress);

/** Off the event loop. Brotli's usual quality would take ten times as long as gzip. */
const CODINGS: readonly (readonly [name: string, encode: (bytes: Uint8Array) => Promise<Uint8Array>])[] = [
  ["zstd", (bytes) => zstded(bytes)],
  ["br", (bytes) => brotlied(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
  ["gzip", (bytes) => gzipped(bytes)],
];

/**
 * Compresses the JSON of a reading request above 4 KiB as its client accepts. Changes are answered as they are: their
 * answers may hold a secret beside what the client sent, whose length would tell of it.
 */
export async function compressAnswer(request: Request, response: Response): Promise<Response> {
  if (request.method !== "GET" || response.status !== 200 || HAS_SECRETS.test(pathOf(request)))
    return response;
  const { headers } = response;
  if (!headers.get("content-type")?.startsWith("application/json")) return response;
  headers.append("vary", "accept-encoding");
  const accepted = acceptedCodings(request.headers.get("accept-encoding") ?? "");
  const [name, encode] = CODINGS.find(([each]) => accepted.has(each)) ?? [];
  if (name === undefined || encode === undefined) return response;
  const bytes = await response.bytes();
  if (bytes.byteLength < BYTES_MIN) return new Response(bytes, { headers });
  const encoded = await encode(bytes);
  headers.delete("content-length");
  headers.set("content-encoding", name);
  return new Response(new Uint8Array(encoded), { headers });
}
