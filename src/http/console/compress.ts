import { pathOf } from "../identity.ts";

/** Below it, a coding saves nothing that a network would notice. Every secret that is asked for is shorter. */
const BYTES_MIN = 4_096;
/** Webhooks' addresses may hold secrets. */
const HAS_SECRETS = /\/notice-rules(\/|$)/;

/**
 * Compresses the JSON of a reading request above 4 KiB as its client accepts. Changes are answered as they are: their
 * answers may hold a secret beside what the client sent, whose length would tell of it.
 */
export async function compressAnswer(request: Request, response: Response): Promise<Response> {
  if (request.method !== "GET" || response.status !== 200) return response;
  const { headers } = response;
  const isJson = headers.get("content-type")?.startsWith("application/json") ?? false;
  if (!isJson || HAS_SECRETS.test(pathOf(request))) return response;
  headers.append("vary", "accept-encoding");
  const coding = chooseCoding(request.headers.get("accept-encoding") ?? "");
  if (!coding) return response;
  const bytes = await response.bytes();
  if (bytes.byteLength < BYTES_MIN) return new Response(bytes, { headers });
  const encoded = await encode(bytes, coding.name);
  headers.delete("content-length");
  headers.set("content-encoding", coding.name);
  return new Response(encoded, { headers });
}

/** Off the event loop, which all requests share. */
async function encode(bytes: Uint8Array<ArrayBuffer>, name: "zstd" | "gzip"): Promise<BodyInit> {
  if (name === "zstd") return new Uint8Array(await Bun.zstdCompress(bytes));
  return new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"))).bytes();
}

/** A coding of answers, and the end of a file's name that has it. */
interface ContentCoding {
  readonly name: "zstd" | "gzip";
  readonly suffix: "zst" | "gz";
}

/** Chooses the best coding that an `accept-encoding` names. One with `q=0` is refused by the client. */
export function chooseCoding(accepted: string): ContentCoding | undefined {
  const names = accepted
    .toLowerCase()
    .split(",")
    .map((each) => each.trim().split(";"))
    .filter(([, weight]) => !/^\s*q=0(\.0*)?$/.test(weight ?? ""))
    .map(([name]) => name);
  if (names.includes("zstd")) return { name: "zstd", suffix: "zst" };
  if (names.includes("gzip")) return { name: "gzip", suffix: "gz" };
  return undefined;
}
