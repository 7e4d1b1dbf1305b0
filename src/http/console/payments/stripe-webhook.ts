import { applyEvent } from "../../../payments/checkouts.ts";
import { noticeReversal } from "../../../payments/reversals.ts";
import type { StripeClient } from "../../../payments/stripe.ts";
import type { ConsoleParts } from "../console-parts.ts";
import { readRequestBody } from "../request-body.ts";

const BODY_BOUNDS = {
  bytesMax: 256 * 1024,
  message: "The event exceeds the size limit of 256 KiB.",
};

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
  // The raw bytes, as they were signed.
  const body = await readRequestBody(request, BODY_BOUNDS);
  const signature = request.headers.get("stripe-signature") ?? undefined;
  const event = await stripe.readEvent({ body, signature, nowMs: parts.now() });
  if (!event) return { received: true };
  if (event.kind === "reversed") {
    await noticeReversal(parts, event);
    parts.log.error({ action: event.action, payment: event.payment }, "payment reversed at Stripe");
    return { received: true };
  }
  const result = await applyEvent(parts, event);
  const fields = { checkout: event.sessionId, result };
  if (result === "mismatch") parts.log.error(fields, "checkout paid with another amount or currency");
  else parts.log.info(fields, "checkout event received");
  return { received: true };
}
