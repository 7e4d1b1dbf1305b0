import { GatewayError } from "../../errors.ts";
import { applyEvent } from "../../payments/checkouts.ts";
import type { StripeClient } from "../../payments/stripe.ts";
import { within } from "../../time.ts";
import type { ConsoleParts } from "./console-parts.ts";

const EVENT_BYTES_MAX = 256 * 1024;
const BODY_MS_MAX = 10_000;

/**
 * Applies a signed event of Stripe. Events of sessions that are not ours, or whose amount is not what we asked
 * for, are answered like others and logged: no repeat of theirs would change anything. Any failure of ours is
 * an error, after which Stripe repeats the event.
 */
export async function receiveEvent(
  parts: ConsoleParts,
  stripe: StripeClient,
  request: Request,
): Promise<{ received: true }> {
  const body = await within(BODY_MS_MAX, readBody(request), () => {
    throw new GatewayError("body_too_slow");
  });
  const signature = request.headers.get("stripe-signature") ?? undefined;
  const event = await stripe.readEvent({ body, signature, nowMs: parts.now() });
  if (!event) return { received: true };
  const result = await applyEvent(parts, event);
  const fields = { checkout: event.sessionId, result };
  if (result === "mismatch") parts.log.error(fields, "checkout paid with another amount or currency");
  else parts.log.info(fields, "checkout event received");
  return { received: true };
}

/** The raw bytes, as they were signed. */
async function readBody(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of request.body ?? []) {
    total += chunk.byteLength;
    if (total > EVENT_BYTES_MAX) {
      throw new GatewayError("body_too_large", { message: "The event exceeds the size limit of 256 KiB." });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
