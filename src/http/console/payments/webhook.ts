import { applyAutoEvent } from "../../../payments/auto-payments.ts";
import { applyCardEvent } from "../../../payments/card-setups.ts";
import { applyEvent } from "../../../payments/checkouts.ts";
import { noticeReversal } from "../../../payments/reversal-notices.ts";
import { applyReversal } from "../../../payments/reversals.ts";
import type { FullStripe } from "../../../payments/stripe.ts";
import type {
  AutoPaymentEvent,
  CheckoutEvent,
  ReversalEvent,
  StripeEvent,
  SubscriptionEvent,
} from "../../../payments/stripe-events.ts";
import { reportOrphan } from "../../../plans/billing/reconcile.ts";
import { syncBilled } from "../../../plans/billing/sync.ts";
import type { ConsoleParts } from "../console-parts.ts";
import { readRequestBody } from "../request-body.ts";
import { billingParts } from "./billing-parts.ts";

type Parts = Pick<ConsoleParts, "database" | "ledger" | "settings" | "mails" | "now" | "log">;

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
  parts: Parts,
  stripe: FullStripe,
  request: Request,
): Promise<{ received: true }> {
  // The raw bytes, as they were signed.
  const body = await readRequestBody(request, BODY_BOUNDS);
  const signature = request.headers.get("stripe-signature") ?? undefined;
  const event = await stripe.readEvent({ body, signature, nowMs: parts.now() });
  if (event) await apply(parts, stripe, event);
  return { received: true };
}

async function apply(parts: Parts, stripe: FullStripe, event: StripeEvent): Promise<void> {
  switch (event.kind) {
    case "reversed":
      return reverse(parts, stripe, event);
    case "subscription":
      return readSubscription(parts, stripe, event);
    case "card_saved": {
      const result = await applyCardEvent({ ...parts, stripe }, event);
      return parts.log.info({ setup: event.setupId, result }, "card event received");
    }
    case "auto_paid":
    case "auto_changed":
      return applyAutoPayment(parts, event);
    case "paid":
    case "expired":
      return applyCheckout(parts, event);
  }
}

async function reverse(parts: Parts, stripe: FullStripe, event: ReversalEvent): Promise<void> {
  const { payments: rules } = parts.settings;
  const apply = () => applyReversal({ ...parts, stripe, rules }, event);
  let effect = await apply();
  // The invoice that was paid may not be known yet: events come in any order.
  if (effect === "unknown" && (await readPaidFor(parts, stripe, event.payment))) effect = await apply();
  await noticeReversal(parts, event, effect);
  parts.log.error({ action: event.action, payment: event.payment, effect }, "payment reversed at Stripe");
}

async function readPaidFor(parts: Parts, stripe: FullStripe, intentId = ""): Promise<boolean> {
  const stripeId = intentId.startsWith("pi_") ? await stripe.findPaidFor(intentId) : undefined;
  if (stripeId === undefined) return false;
  return (await syncBilled(billingParts(parts, stripe), stripeId)) === "applied";
}

/** Stripe is asked what the subscription is now: neither order nor number of events matters. */
async function readSubscription(parts: Parts, stripe: FullStripe, event: SubscriptionEvent): Promise<void> {
  const { type, stripeId } = event;
  const result = await syncBilled(billingParts(parts, stripe), stripeId);
  if (result === "orphan") await reportOrphan(parts, stripeId);
  parts.log.info({ type, stripe: stripeId, result }, "subscription event received");
}

async function applyAutoPayment(parts: Parts, event: AutoPaymentEvent): Promise<void> {
  const result = await applyAutoEvent(parts, event);
  const fields = { payment: event.orderId, intent: event.intentId, result };
  if (result === "mismatch") {
    parts.log.error(fields, "automatic top-up paid with another amount or currency");
  } else parts.log.info(fields, "payment event received");
}

async function applyCheckout(parts: Parts, event: CheckoutEvent): Promise<void> {
  const result = await applyEvent(parts, event);
  const fields = { checkout: event.sessionId, result };
  if (result === "mismatch") parts.log.error(fields, "checkout paid with another amount or currency");
  else parts.log.info(fields, "checkout event received");
}
