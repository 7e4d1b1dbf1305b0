import { createByteCollector } from "../domain/byte-blocks.ts";
import { GatewayError } from "../errors.ts";
import { within } from "../time.ts";
import { BODY_BYTES_MAX, type BodyBudget } from "./body-budget.ts";
import type { ConnectionIdle } from "./connection-idle.ts";
import type { BodySender, IncomingBodies } from "./incoming-bodies.ts";

/**
 * Up to this size a body is read in one piece, which is cheaper. Its bytes are counted once all have arrived.
 */
const WHOLE_BYTES_MAX = 64 * 1024;

/** A request body of at most 30 MiB. Its bytes count against the budget until `release`. */
export interface BodyReader {
  /** Whether the whole body was received, so that the connection stays open for the response. */
  readonly isRead: boolean;
  /**
   * Returns the bytes, in blocks. Must be called at most once. Throws `encoded_body`, `body_too_large`,
   * `too_concurrent`, `body_too_slow`, `too_many_body_bytes` or `shutting_down`.
   */
  read(sender: BodySender): Promise<readonly Uint8Array[]>;
  release(): void;
}

export interface BodyParts {
  readonly bodyBudget: BodyBudget;
  readonly incomingBodies: IncomingBodies;
  readonly connectionIdle: ConnectionIdle;
}

export function createBodyReader(
  request: Request,
  { bodyBudget, incomingBodies, connectionIdle }: BodyParts,
): BodyReader {
  let accountId = "";
  let taken = 0;
  let isRead = false;
  const take = (bytes: number) => {
    if (taken + bytes > BODY_BYTES_MAX) throw new GatewayError("body_too_large");
    bodyBudget.take(accountId, bytes);
    taken += bytes;
  };
  const receive = async (sender: BodySender): Promise<readonly Uint8Array[]> => {
    const announced = Number(request.headers.get("content-length") ?? Number.NaN);
    if (announced > BODY_BYTES_MAX) throw new GatewayError("body_too_large");
    if (announced <= WHOLE_BYTES_MAX) {
      const bytes = await incomingBodies.receive(sender, () => request.bytes());
      take(bytes.byteLength);
      return [bytes];
    }
    let body: ChunkReader | undefined;
    const start = () => {
      connectionIdle.whileReceiving(request);
      body = request.body?.getReader();
      return readChunks(body, take);
    };
    // Bytes that arrive after the failure would otherwise be counted and never given back.
    const cut = () => void body?.cancel().catch(() => undefined);
    return incomingBodies.receive(sender, start, cut);
  };
  return {
    get isRead() {
      return isRead;
    },
    async read(sender) {
      ({ accountId } = sender);
      if (isEncoded(request.headers)) throw new GatewayError("encoded_body");
      const blocks = await receive(sender);
      isRead = true;
      connectionIdle.whileAnswering(request);
      return blocks;
    },
    release() {
      if (taken > 0) bodyBudget.give(accountId, taken);
      taken = 0;
    },
  };
}

type ChunkReader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * Counts bytes while it reads. Releases the stream on error, so that {@link discardBody} can read the rest.
 */
async function readChunks(
  body: ChunkReader | undefined,
  take: (bytes: number) => void,
): Promise<readonly Uint8Array[]> {
  const collector = createByteCollector();
  try {
    for (;;) {
      const chunk = await body?.read();
      if (!chunk || chunk.done) return collector.take();
      take(chunk.value.byteLength);
      collector.add(chunk.value);
    }
  } finally {
    body?.releaseLock();
  }
}

function isEncoded(headers: Headers): boolean {
  const encoding = headers.get("content-encoding");
  return encoding !== null && !/^\s*(identity)?\s*$/i.test(encoding);
}

/** Beyond this size, the rest of a body is not read, and the client may lose the response. */
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024;
const DISCARD_MS_MAX = 10_000;
/** A client that sends nothing for this long is waiting for its response. */
const SILENCE_MS_MAX = 500;

/**
 * Reads and drops the rest of a request body when the connection closes after the response. Unread bytes make
 * the kernel reset the connection, so that the client never sees the error. Bun does so itself for
 * connections that stay open. Reads at most 64 MiB and 10 s. Never rejects.
 */
export async function discardBody(request: Request): Promise<void> {
  if (!/\bclose\b/i.test(request.headers.get("connection") ?? "")) return;
  if (Number(request.headers.get("content-length")) > DISCARDED_BYTES_MAX) return;
  const { body } = request;
  if (body && !body.locked) await discard(body.getReader()).catch(() => undefined);
}

async function discard(body: ChunkReader): Promise<void> {
  const endsAtMs = performance.now() + DISCARD_MS_MAX;
  let bytes = 0;
  for (;;) {
    const leftMs = Math.min(endsAtMs - performance.now(), SILENCE_MS_MAX);
    const chunk = await within(leftMs, body.read(), () => undefined);
    bytes += chunk?.value?.byteLength ?? 0;
    if (!chunk || chunk.done || bytes > DISCARDED_BYTES_MAX || performance.now() >= endsAtMs) return;
  }
}
