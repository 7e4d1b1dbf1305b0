// The events of Stripe that concern payments. Their signature is verified, and their members are not trusted.

/** What happened to a checkout session. */
export interface CheckoutEvent {
  readonly kind: "paid" | "expired";
  readonly sessionId: string;
  /** The order id of a session that we created. */
  readonly orderId: string | undefined;
  /** In the smallest unit of the currency. */
  readonly amountTotal: number | undefined;
  readonly currency: string | undefined;
  /** The part of `amountTotal` that is tax, where Stripe computes it. */
  readonly amountTax?: number | undefined;
  /** The payment of a paid session. */
  readonly intentId?: string | undefined;
}

/** A card was saved on a page of Stripe. */
export interface CardEvent {
  readonly kind: "card_saved";
  /** Our id of the page. */
  readonly setupId: string;
  readonly setupIntentId: string;
}

/** What happened to the payment of an automatic top-up. */
export interface AutoPaymentEvent {
  readonly kind: "auto_paid" | "auto_changed";
  /** Our id of the payment. */
  readonly orderId: string;
  readonly intentId: string;
  /** What Stripe has received, in the smallest unit of the currency. */
  readonly amount: number | undefined;
  readonly currency: string | undefined;
}

/** A dispute or a refund, made at Stripe. */
export interface ReversalEvent {
  readonly kind: "reversed";
  readonly action:
    | "payment.disputed"
    | "payment.dispute_closed"
    | "payment.refunded"
    | "payment.refund_failed";
  /** The id of the dispute, charge or failed refund. */
  readonly objectId: string;
  /** The payment that Stripe's dashboard finds. */
  readonly payment: string | undefined;
  /** In the smallest unit of the currency; of a charge, all that was refunded so far. */
  readonly amount: number | undefined;
  readonly currency: string | undefined;
  /** The state of a dispute: "needs_response", "won", "lost". */
  readonly state: string | undefined;
}

/** Something happened to a subscription. Only its id is taken: Stripe's API is asked for the rest. */
export interface SubscriptionEvent {
  readonly kind: "subscription";
  readonly type: string;
  readonly stripeId: string;
}

export type StripeEvent = CheckoutEvent | CardEvent | AutoPaymentEvent | ReversalEvent | SubscriptionEvent;

/** The members of metadata that hold our ids. */
export const METADATA = {
  order: "tollgate_order",
  setup: "tollgate_setup",
  autoTopUp: "tollgate_auto_top_up",
  plan: "tollgate_plan_order",
} as const;

/** What an id of Stripe or of ours may be, so that it can be stored and be the id of a top-up. */
const ID = /^\w[\w-]{0,127}$/;

/**
 * Reads a verified event; `undefined` for one that concerns no payment.
 * @see https://docs.stripe.com/api/events/types
 */
export function readStripeEvent(event: unknown): StripeEvent | undefined {
  if (!isObject(event) || typeof event.type !== "string") return undefined;
  if (!isObject(event.data) || !isObject(event.data.object)) return undefined;
  const { type } = event;
  const { object } = event.data;
  if (Object.hasOwn(REVERSALS, type)) return readReversal(type, object);
  if (type.startsWith("payment_intent.")) return readAutoPayment(type, object);
  if (/^(invoice|customer\.subscription)\./.test(type) || object.mode === "subscription") {
    return readSubscriptionEvent(type, object);
  }
  return object.mode === "setup" ? readCard(type, object) : readCheckout(type, object);
}

function readCheckout(type: string, session: Members): CheckoutEvent | undefined {
  const kind = readKind(type, session.payment_status);
  const sessionId = readId(session.id);
  if (kind === undefined || sessionId === undefined) return undefined;
  const { amount_total: amountTotal, currency, total_details: details } = session;
  return {
    kind,
    sessionId,
    orderId: readMetadata(session, METADATA.order),
    amountTotal: typeof amountTotal === "number" ? amountTotal : undefined,
    currency: typeof currency === "string" ? currency : undefined,
    amountTax: isObject(details) ? readWhole(details.amount_tax) : undefined,
    intentId: readId(session.payment_intent),
  };
}

/** A delayed payment method completes its session first; another event reports whether it was paid. */
function readKind(type: string, paymentStatus: unknown): CheckoutEvent["kind"] | undefined {
  switch (type) {
    case "checkout.session.completed":
      return paymentStatus === "paid" ? "paid" : undefined;
    case "checkout.session.async_payment_succeeded":
      return "paid";
    case "checkout.session.async_payment_failed":
    case "checkout.session.expired":
      return "expired";
    default:
      return undefined;
  }
}

function readCard(type: string, session: Members): CardEvent | undefined {
  const setupId = readMetadata(session, METADATA.setup);
  const setupIntentId = readId(session.setup_intent);
  if (type !== "checkout.session.completed" || !setupId || !setupIntentId) return undefined;
  return { kind: "card_saved", setupId, setupIntentId };
}

/** An invoice names its subscription in one of two places, by the version of Stripe's API that the webhook has. */
function readSubscriptionEvent(type: string, object: Members): SubscriptionEvent | undefined {
  const parent = isObject(object.parent) ? object.parent.subscription_details : undefined;
  const ofInvoice = isObject(parent) ? parent.subscription : undefined;
  const isOwn = type.startsWith("customer.");
  const stripeId = readId(isOwn ? object.id : (ofInvoice ?? object.subscription));
  return stripeId?.startsWith("sub_") ? { kind: "subscription", type, stripeId } : undefined;
}

/** Only a success is taken from the event. After any other, Stripe's API is asked for the state. */
function readAutoPayment(type: string, intent: Members): AutoPaymentEvent | undefined {
  const orderId = readMetadata(intent, METADATA.autoTopUp);
  const intentId = readId(intent.id);
  if (orderId === undefined || intentId === undefined) return undefined;
  const isPaid = type === "payment_intent.succeeded" && intent.status === "succeeded";
  return {
    kind: isPaid ? "auto_paid" : "auto_changed",
    orderId,
    intentId,
    amount: readWhole(intent.amount_received),
    currency: typeof intent.currency === "string" ? intent.currency : undefined,
  };
}

const REVERSALS: Readonly<Record<string, ReversalEvent["action"]>> = {
  "charge.dispute.created": "payment.disputed",
  "charge.dispute.funds_withdrawn": "payment.disputed",
  "charge.dispute.closed": "payment.dispute_closed",
  "charge.dispute.funds_reinstated": "payment.dispute_closed",
  "charge.refunded": "payment.refunded",
  "refund.failed": "payment.refund_failed",
};

/** Texts that are no plain words are left out: they are shown to operators. */
function readReversal(type: string, object: Members): ReversalEvent | undefined {
  const action = REVERSALS[type];
  const objectId = readId(object.id);
  if (action === undefined || objectId === undefined) return undefined;
  const isCharge = action === "payment.refunded";
  return {
    kind: "reversed",
    action,
    objectId,
    payment: readId(object.payment_intent) ?? readId(object.charge),
    amount: readWhole(isCharge ? object.amount_refunded : object.amount),
    currency: readId(object.currency),
    state: isCharge ? undefined : readId(object.status),
  };
}

function readMetadata({ metadata }: Members, name: string): string | undefined {
  return isObject(metadata) ? readId(metadata[name]) : undefined;
}

/** Returns an id, or a plain word such as a state, and `undefined` for any other value. */
export function readId(value: unknown): string | undefined {
  return typeof value === "string" && ID.test(value) ? value : undefined;
}

function readWhole(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? Number(value) : undefined;
}

type Members = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null;
}
