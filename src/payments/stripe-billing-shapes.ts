// What a subscription at Stripe and its invoices say, as far as plans need it.
import type { Nanos } from "../domain/money.ts";
import { METADATA, readId } from "./stripe-events.ts";
import { CURRENCY, centsToNanos, type Stripe } from "./stripe-library.ts";

/** A subscription at Stripe, as it is now. */
export interface BilledSubscription {
  readonly stripeId: string;
  /** Our order, by the metadata of the subscription. */
  readonly orderId: string | undefined;
  readonly customerId: string | undefined;
  /** The price that its next invoice has. */
  readonly priceId: string | undefined;
  /** Whether it ends with its period, or at a later time that is set. */
  readonly isEnding: boolean;
  /** Whether its payments are not collected. */
  readonly isHeld: boolean;
  /** When it ended; `undefined` while it goes on, paid or not. */
  readonly endedAtMs: number | undefined;
  /** All its paid invoices, the newest first. */
  readonly invoices: readonly PaidInvoice[];
}

/** A paid invoice of a period, or of a change within it. */
export interface PaidInvoice {
  readonly id: string;
  readonly createdAtMs: number;
  readonly paidAtMs: number;
  readonly currency: string;
  /** Whether it is the first one of its subscription. */
  readonly isFirst: boolean;
  /** Whether it pays for a change within a period, and not for a period ahead. */
  readonly isChange: boolean;
  /** The price of the line that pays for the period. */
  readonly priceId: string | undefined;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  /** What came from the payer, tax included: less than the total where a balance at Stripe paid a part. */
  readonly paid: Nanos;
  /** What came from the payer, without a tax that was added to the price. */
  readonly net: Nanos;
  readonly intentId: string | undefined;
}

/** States from which a subscription does not come back. */
const OVER: ReadonlySet<string> = new Set(["canceled", "incomplete_expired"]);

/** @see https://docs.stripe.com/api/subscriptions/object */
export function readSubscription(
  subscription: Stripe.Subscription,
): Omit<BilledSubscription, "invoices"> | undefined {
  const { id, status, metadata, customer, items, pause_collection: pause } = subscription;
  const stripeId = readId(id);
  if (stripeId === undefined) return undefined;
  const endedAtS = subscription.ended_at ?? subscription.canceled_at ?? subscription.created;
  return {
    stripeId,
    orderId: readId(metadata[METADATA.plan]),
    customerId: readId(typeof customer === "string" ? customer : customer.id),
    priceId: readId(items.data[0]?.price.id),
    isEnding: subscription.cancel_at_period_end || subscription.cancel_at !== null,
    isHeld: pause !== null,
    endedAtMs: OVER.has(status) ? endedAtS * 1000 : undefined,
  };
}

/**
 * Reads a paid invoice; `undefined` for one without a line of a period.
 * @see https://docs.stripe.com/api/invoices/object
 */
export function readInvoice(invoice: Stripe.Invoice): PaidInvoice | undefined {
  const id = readId(invoice.id);
  const line = findLine(invoice.lines.data);
  if (id === undefined || line === undefined || invoice.status !== "paid") return undefined;
  const price = line.pricing?.price_details?.price;
  return {
    id,
    createdAtMs: invoice.created * 1000,
    paidAtMs: (invoice.status_transitions.paid_at ?? invoice.created) * 1000,
    currency: invoice.currency,
    isChange: line.parent?.subscription_item_details?.proration ?? false,
    isFirst: invoice.billing_reason === "subscription_create",
    priceId: readId(typeof price === "object" ? price.id : price),
    startsAtMs: line.period.start * 1000,
    endsAtMs: line.period.end * 1000,
    ...readPaid(invoice),
    intentId: readIntent(invoice),
  };
}

/** The line that pays for a period ahead; of a change within a period, that of what it was changed to. */
function findLine(lines: readonly Stripe.InvoiceLineItem[]): Stripe.InvoiceLineItem | undefined {
  const ofPeriods = lines.filter(
    ({ parent, period }) => parent?.type === "subscription_item_details" && period.end > period.start,
  );
  const whole = ofPeriods.filter(({ parent }) => !parent?.subscription_item_details?.proration);
  const candidates = whole.length > 0 ? whole : ofPeriods.filter(({ amount }) => amount >= 0);
  return candidates.toSorted((one, other) => other.period.start - one.period.start)[0];
}

/** An amount in another currency counts as none. */
function readPaid({ currency, amount_paid: paid, total, total_taxes: taxes }: Stripe.Invoice) {
  const added = (taxes ?? []).filter(({ tax_behavior: behaviour }) => behaviour === "exclusive");
  const tax = added.reduce((sum, { amount }) => sum + amount, 0);
  if (currency !== CURRENCY || paid <= 0 || total <= 0 || tax > total) return { paid: 0n, net: 0n };
  const received = centsToNanos(Math.min(paid, total));
  return { paid: received, net: (received * BigInt(total - tax)) / BigInt(total) };
}

function readIntent({ payments }: Stripe.Invoice): string | undefined {
  const paid = payments?.data.find(({ status }) => status === "paid");
  const intent = paid?.payment.payment_intent;
  return readId(typeof intent === "object" ? intent.id : intent);
}
