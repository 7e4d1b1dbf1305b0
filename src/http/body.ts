import { createByteCollector } from "../domain/byte-blocks.ts";
import { GatewayError } from "../errors.ts";
import { BODY_BYTES_MAX } from "./body-size.ts";
import type { HttpParts } from "./http-parts.ts";
import type { BodySender } from "./incoming-bodies.ts";

/** Up to here a body is read in one piece, which is cheaper, and its bytes count once they are all there. */
const WHOLE_BYTES_MAX = 64 * 1024;

/** A request body of at most 30 MiB, read at most once, whose bytes count against the budget until `release`. */
export interface BodyReader {
  /** Whether the body has come, and the connection is kept open for the answer. */
  readonly isRead: boolean;
  /**
   * Returns its bytes, in blocks. Throws `encoded_body`, `body_too_large`, `too_concurrent`, `body_too_slow`,
   * `too_many_body_bytes` or `shutting_down`.
   */
  read(sender: BodySender): Promise<readonly Uint8Array[]>;
  release(): void;
}

export type BodyParts = Pick<HttpParts, "bodyBudget" | "incomingBodies" | "connectionIdle">;

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
    // Else what still comes of it would count for ever.
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

/** Counts while it reads. What is left of a body that is too large is for others to discard. */
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
