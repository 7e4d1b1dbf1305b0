import { createByteCollector } from "../domain/byte-blocks.ts";
import { GatewayError } from "../errors.ts";
import type { BodyBudget } from "./body-budget.ts";

/** 30 MiB pass, one byte more does not. */
const BODY_BYTES_MAX = 30 * 1024 * 1024;
/** A body that trickles in is cut after this long in all. */
const BODY_MS_MAX = 120_000;
/** A larger body counts as it comes: else a few who announce much and send nothing would keep out everybody. */
const COUNTED_AHEAD_BYTES = 64 * 1024;

/** A request body of at most 30 MiB, read at most once, whose bytes count against the budget until `release`. */
export interface BodyReader {
  /** Its bytes, in blocks. Throws `body_too_large`, `body_too_slow` or `too_many_body_bytes`. */
  read(): Promise<readonly Uint8Array[]>;
  release(): void;
}

export function createBodyReader(request: Request, budget: BodyBudget, msMax = BODY_MS_MAX): BodyReader {
  let taken = 0;
  const take = (bytes: number) => {
    if (taken + bytes > BODY_BYTES_MAX) throw new GatewayError("body_too_large");
    budget.take(bytes);
    taken += bytes;
  };
  return {
    async read() {
      const announced = Number(request.headers.get("content-length") ?? Number.NaN);
      if (announced > BODY_BYTES_MAX) throw new GatewayError("body_too_large");
      if (announced <= COUNTED_AHEAD_BYTES) {
        take(announced);
        return [await inTime(request.bytes(), msMax)];
      }
      const body = request.body?.getReader();
      // Else what still comes of it would count for ever.
      const cancel = () => void body?.cancel().catch(() => undefined);
      return inTime(readChunks(body, take), msMax, cancel);
    },
    release() {
      budget.give(taken);
      taken = 0;
    },
  };
}

/** Counts while it reads. The rest of a body that is too large is left for the server to drain. */
async function readChunks(
  body: ReadableStreamDefaultReader<Uint8Array> | undefined,
  take: (bytes: number) => void,
): Promise<readonly Uint8Array[]> {
  const collector = createByteCollector();
  for (;;) {
    const chunk = await body?.read();
    if (!chunk || chunk.done) return collector.take();
    take(chunk.value.byteLength);
    collector.add(chunk.value);
  }
}

async function inTime<Bytes>(body: Promise<Bytes>, msMax: number, onLate?: () => void): Promise<Bytes> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new GatewayError("body_too_slow"));
    onLate?.();
  }, msMax);
  try {
    return await Promise.race([body, late]);
  } finally {
    clearTimeout(timer);
  }
}
