import { createByteCollector } from "../domain/byte-blocks.ts";
import { GatewayError } from "../errors.ts";
import { within } from "../platform.ts";
import type { ConnectionIdle } from "./connection-idle.ts";
import { BODY_BYTES_MAX, type BodyBudget, type BodySender, type IncomingBodies } from "./incoming-bodies.ts";

/**
 * Up to this size a body is read in one piece, which is cheaper. Its bytes count against the budget once all have
 * arrived, and until then against the bytes that bodies in transit have announced.
 */
const WHOLE_BYTES_MAX = 1024 * 1024;
/** A smaller body is read in one piece whatever others have announced. */
const SMALL_BYTES_MAX = 64 * 1024;

/** A request body of at most 30 MiB. Its bytes count against the budget until `release`. */
export interface BodyReader {
  /** Whether the whole body was received, so that the connection stays open for the response. */
  readonly isRead: boolean;
  /**
   * Returns the bytes, in blocks. Must be called at most once. Throws `encoded_body`, `body_too_large`,
   * `too_concurrent`, `body_too_slow`, `too_many_body_bytes` or `shutting_down`.
   */
  read(sender: BodySender): Promise<readonly Uint8Array[]>;
  /** Must be called before the last bytes of the response: sets how long the connection may be idle then. */
  replied(): void;
  release(): void;
}

export interface BodyParts {
  readonly bodyBudget: BodyBudget;
  readonly incomingBodies: IncomingBodies;
  readonly connectionIdle: ConnectionIdle;
}

export function createBodyReader(request: Request, parts: BodyParts): BodyReader {
  return new RequestBody(request, parts);
}

/** A class, because closures for each request cost more. */
class RequestBody implements BodyReader {
  isRead = false;
  readonly #request: Request;
  readonly #parts: BodyParts;
  #accountId = "";
  #taken = 0;
  #chunks: ChunkReader | undefined;

  constructor(request: Request, parts: BodyParts) {
    this.#request = request;
    this.#parts = parts;
  }

  async read(sender: BodySender): Promise<readonly Uint8Array[]> {
    const { headers } = this.#request;
    this.#accountId = sender.accountId;
    if (isEncoded(headers)) throw new GatewayError("encoded_body");
    const announced = Number(headers.get("content-length") ?? Number.NaN);
    if (announced > BODY_BYTES_MAX) throw new GatewayError("body_too_large");
    const start = () => this.#start(announced);
    // Bytes that arrive after the failure would otherwise be counted and never given back.
    const cut = () => void this.#chunks?.cancel().catch(() => undefined);
    const received = await this.#parts.incomingBodies.receive(sender, start, cut);
    const isWhole = received instanceof Uint8Array;
    if (isWhole) this.#take(received.byteLength);
    this.isRead = true;
    this.#parts.connectionIdle.whileAnswering(this.#request);
    return isWhole ? [received] : received;
  }

  #start(announced: number): Promise<Uint8Array | readonly Uint8Array[]> {
    // Connections stay idle as briefly as between requests: a small body arrives with its headers or soon after.
    if (announced <= SMALL_BYTES_MAX) return this.#request.bytes();
    const { budget } = this.#parts.incomingBodies;
    if (announced <= WHOLE_BYTES_MAX && budget.tryTake(this.#accountId, announced)) {
      const arriving = this.#request.bytes();
      if (Bun.peek.status(arriving) === "pending") this.#parts.connectionIdle.whileReceiving(this.#request);
      const give = () => budget.give(this.#accountId, announced);
      // Settles at the latest with the response, also for a client that never sends the rest.
      arriving.then(give, give);
      return arriving;
    }
    return this.#inChunks();
  }

  #inChunks(): Promise<readonly Uint8Array[]> {
    this.#parts.connectionIdle.whileReceiving(this.#request);
    this.#chunks = this.#request.body?.getReader();
    return readChunks(this.#chunks, (bytes) => this.#take(bytes));
  }

  #take(bytes: number): void {
    if (this.#taken + bytes > BODY_BYTES_MAX) throw new GatewayError("body_too_large");
    this.#parts.bodyBudget.take(this.#accountId, bytes);
    this.#taken += bytes;
  }

  replied(): void {
    const { connectionIdle } = this.#parts;
    if (this.isRead) connectionIdle.whileReading(this.#request);
    else connectionIdle.whileWaiting(this.#request);
  }

  release(): void {
    if (this.#taken > 0) this.#parts.bodyBudget.give(this.#accountId, this.#taken);
    this.#taken = 0;
  }
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

/** As much of a request as remains of it when its body is not read. */
export type ReceivedRequest = Pick<Request, "headers" | "body">;

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
export async function discardBody(request: ReceivedRequest, isClosing = asksToClose(request)): Promise<void> {
  if (!isClosing) return;
  if (Number(request.headers.get("content-length")) > DISCARDED_BYTES_MAX) return;
  const { body } = request;
  if (body && !body.locked) await discard(body.getReader()).catch(() => undefined);
}

function asksToClose({ headers }: ReceivedRequest): boolean {
  return /\bclose\b/i.test(headers.get("connection") ?? "");
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
