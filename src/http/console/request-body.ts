import { GatewayError } from "../../errors.ts";
import { within } from "../../time.ts";

/** Bodies of the console are small: a sender that takes longer keeps memory and a connection busy. */
const BODY_MS_MAX = 10_000;

export interface BodyBounds {
  readonly bytesMax: number;
  /** The message of a body that is too large. Default: that of `body_too_large`. */
  readonly message?: string;
  /** Default: 10 s. */
  readonly msMax?: number;
}

/**
 * Reads the raw bytes of a body, as they were sent. Rejects with `body_too_large` above `bytesMax`, and with
 * `body_too_slow` when they have not all arrived within 10 s; the rest is not read then.
 */
export async function readRequestBody(
  { headers, body }: Request,
  { bytesMax, message, msMax = BODY_MS_MAX }: BodyBounds,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => new GatewayError("body_too_large", message === undefined ? {} : { message });
  if (Number(headers.get("content-length") ?? 0) > bytesMax) throw tooLarge();
  const reader = body?.getReader();
  const chunks: Uint8Array[] = [];
  const receive = async () => {
    let total = 0;
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) return Buffer.concat(chunks);
      total += value.byteLength;
      if (total > bytesMax) throw tooLarge();
      chunks.push(value);
    }
  };
  let isSlow = false;
  try {
    return await within(msMax, receive(), () => {
      isSlow = true;
      throw new GatewayError("body_too_slow");
    });
  } finally {
    // The rest of a body that is too large is discarded, so that its sender sees the error.
    if (isSlow) reader?.cancel().catch(() => undefined);
    else reader?.releaseLock();
  }
}
