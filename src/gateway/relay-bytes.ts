import { createByteCollector, decodeBlocks } from "../domain/byte-blocks.ts";
import type { Permit } from "../upstream/circuit-phases.ts";
import type { ReplyPart } from "../wire/reply-part.ts";
import { UpstreamFault } from "../wire/upstream-fault.ts";
import type { HeldRequest, Outcome, Reply } from "./request.ts";
import type { AttemptTimeouts } from "./timeouts.ts";

const ANY_BYTES = "application/octet-stream";

/** One piece of a file: output that a client can play, with nothing to count. */
const PIECE: ReplyPart = { text: "", isOutput: true, isReadable: true, generated: "", usage: undefined };

/** As much of an attempt as the bytes of its answer depend on. */
interface BytesContext {
  readonly held: Pick<HeldRequest, "meter">;
  readonly reply: Reply;
  readonly permit: Permit;
}

/**
 * Relays an audio file as it arrives, without reading it. The latest piece is held back, so that the client
 * has the whole file only after the settlement. Throws `UpstreamFault`, or the fault of the connection.
 */
export async function relayBytes(
  answer: Response,
  { held: { meter }, reply, permit }: BytesContext,
  timeouts: AttemptTimeouts,
): Promise<Outcome> {
  const file = reply.openFile?.(audioTypeOf(answer));
  if (!file) throw new UpstreamFault("The reply cannot be a file");
  const body = answer.body?.getReader();
  let latest: Uint8Array | undefined;
  for (let chunk = await body?.read(); chunk && !chunk.done; chunk = await body?.read()) {
    if (chunk.value.byteLength === 0) continue;
    timeouts.began();
    timeouts.progress();
    permit.began();
    meter.add(PIECE);
    const piece = latest;
    latest = chunk.value;
    if (!piece) continue;
    meter.commit();
    const room = file.write(piece);
    if (room !== undefined) await timeouts.untilRead(room);
  }
  return latest ? { kind: "finished", ending: "", rest: { file, bytes: latest } } : { kind: "empty" };
}

/** Throws {@link UpstreamFault} for an answer that is no file of audio, such as a page or an error in JSON. */
function audioTypeOf({ headers }: Response): string {
  const type = headers.get("content-type") ?? ANY_BYTES;
  if (!isPlainType(type) || !(type.startsWith("audio/") || type.startsWith(ANY_BYTES))) {
    throw new UpstreamFault("The answer is not audio");
  }
  return type;
}

/** Up to this size an answer of known length is read at once. */
const AT_ONCE_BYTES_MAX = 64 * 1024;

/** The bytes of a body that came, and the fault that cut it off. */
export interface BodyBytes {
  readonly blocks: readonly Uint8Array[];
  /** The fault that ended the connection. A body whose connection broke may still be complete. */
  readonly fault?: unknown;
}

/**
 * Reads the body of a response. Returns `undefined` when it is larger than `bytesMax`; the rest is not read
 * then. Never rejects. Calls `onBytes` after each chunk.
 */
export async function readBounded(
  { body }: Response,
  bytesMax: number,
  onBytes: () => void = () => {},
): Promise<BodyBytes | undefined> {
  const reader = body?.getReader();
  const collector = createByteCollector();
  try {
    for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
      onBytes();
      collector.add(chunk.value);
      if (collector.bytes > bytesMax) {
        await reader?.cancel();
        return undefined;
      }
    }
  } catch (fault) {
    return { blocks: collector.take(), fault };
  }
  return { blocks: collector.take() };
}

/**
 * Reads the body of a whole answer. A small one of known length is read at once, which costs least; the idle
 * limit then applies to all of it.
 */
export function readBody(
  answer: Response,
  bytesMax: number,
  timeouts: AttemptTimeouts,
): Promise<BodyBytes | undefined> {
  const { headers } = answer;
  const length = headers.get("content-length");
  // An answer with a content-length is complete; another may begin long after its headers.
  if (length !== null) timeouts.began();
  // With `transfer-encoding`, HTTP ignores the content-length: the body may be longer.
  const isBounded = length !== null && !headers.has("transfer-encoding");
  if (isBounded && Number(length) <= AT_ONCE_BYTES_MAX) return answer.bytes().then(wholeBody);
  return readBounded(answer, bytesMax, () => {
    timeouts.began();
    timeouts.progress();
  });
}

function wholeBody(bytes: Uint8Array): BodyBytes {
  return { blocks: [bytes] };
}

/** Decodes a small body as UTF-8. */
export function textOf({ blocks }: BodyBytes): string {
  return decodeBlocks(blocks, { fatal: false });
}

const PLAIN_TYPE = /^[a-z]{1,32}\/[\w.+-]{1,64}(; ?[a-z]{1,32}=[\w.+-]{1,64}){0,4}$/i;

/** Whether a content type has a type, a subtype and plain parameters: it can be sent on in a header. */
function isPlainType(type: string): boolean {
  return PLAIN_TYPE.test(type);
}
