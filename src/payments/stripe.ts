// The only file that uses the library of Stripe. It is loaded at the first payment.
import type { Stripe } from "stripe";
import type { Nanos } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { loadPart } from "../program-files.ts";

/** Secrets of Stripe. They are read at each use, as they may be rotated. */
export interface StripeSettings {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Origin of the API, for tests: "http://127.0.0.1:12111". Default: that of Stripe. */
  readonly apiBase?: string | undefined;
}

/** What a page of Stripe asks for. */
export interface CheckoutOrder {
  /** Our own id: the idempotency key of the order, which comes back in every event. */
  readonly orderId: string;
  /** USD in whole cents. */
  readonly amount: Nanos;
  /** Where the browser returns; neither page decides about a credit. */
  readonly successUrl: string;
  readonly cancelUrl: string;
}

export interface CheckoutPage {
  readonly sessionId: string;
  /** Where the payer goes. */
  readonly url: string;
}

/** What happened to a checkout session. */
export interface CheckoutEvent {
  readonly kind: "paid" | "expired";
  readonly sessionId: string;
  /** The order id of a session that we created. */
  readonly orderId: string | undefined;
  /** In the smallest unit of the currency. */
  readonly amountTotal: number | undefined;
  readonly currency: string | undefined;
}

/** A dispute, or a refund made at Stripe. The money left our account there, and the wallet still has it. */
export interface ReversalEvent {
  readonly kind: "reversed";
  readonly action: "payment.disputed" | "payment.dispute_closed" | "payment.refunded";
  /** The id of the dispute or charge. */
  readonly objectId: string;
  /** The payment that Stripe's dashboard finds. */
  readonly payment: string | undefined;
  /** In the smallest unit of the currency; of a charge, all that was refunded so far. */
  readonly amount: number | undefined;
  readonly currency: string | undefined;
  /** The state of a dispute: "needs_response", "won", "lost". */
  readonly state: string | undefined;
}

/** Payments by Stripe Checkout. */
export interface StripeClient {
  /** Rejects with `payments_unavailable`. */
  createPage(order: CheckoutOrder): Promise<CheckoutPage>;
  /**
   * Reads a signed event from its raw body. `undefined` for an event that concerns no payment. Rejects with
   * `wrong_signature` for a forged event, and for one sent over 5 minutes before or after `nowMs`.
   */
  readEvent(event: SignedEvent): Promise<CheckoutEvent | ReversalEvent | undefined>;
}

interface SignedEvent {
  readonly body: Uint8Array;
  /** The header `stripe-signature`. */
  readonly signature: string | undefined;
  readonly nowMs: number;
}

/** A failed call of Stripe's API, without any of its text: `code` is "http_401", or "connection". */
class StripeFault extends Error {
  override readonly name = "StripeFault";
  readonly code: string;

  constructor(error: unknown) {
    super();
    const hasStatus = typeof error === "object" && error !== null && "statusCode" in error;
    this.code = hasStatus && typeof error.statusCode === "number" ? `http_${error.statusCode}` : "connection";
  }
}

const NANOS_PER_CENT = 10_000_000n;
const TOLERANCE_S = 300;
const API_TIMEOUT_MS = 20_000;
const METADATA_ORDER = "tollgate_order";
/** What the id of a session or an order may be, so that it can be stored and be the id of a top-up. */
const SESSION_ID = /^\w[\w-]{0,127}$/;

/** Converts whole cents, as Stripe counts USD. */
export function centsToNanos(cents: number): Nanos {
  return BigInt(cents) * NANOS_PER_CENT;
}

export function createStripeClient(settings: StripeSettings): StripeClient {
  let loading: Promise<Stripe> | undefined;
  let loadedKey: string | undefined;
  const load = () => {
    if (loadedKey !== settings.secretKey) loading = undefined;
    loadedKey = settings.secretKey;
    loading ??= connect(settings).catch((error) => {
      // A failed load is tried again at the next payment.
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    async createPage(order) {
      const stripe = await load();
      const { id, url } = await createSession(stripe, order).catch((error) => {
        throw new GatewayError("payments_unavailable", { reason: new StripeFault(error) });
      });
      if (!url) throw new GatewayError("payments_unavailable");
      return { sessionId: id, url };
    },
    async readEvent(event) {
      const { webhooks } = await load();
      const signature = readSignature(event);
      const { webhookSecret } = settings;
      const body = Buffer.from(event.body);
      const verified = await webhooks
        .constructEventAsync(body, signature, webhookSecret, TOLERANCE_S, undefined, event.nowMs)
        .catch(() => {
          throw new GatewayError("wrong_signature");
        });
      return readReversal(verified) ?? readCheckoutEvent(verified);
    },
  };
}

async function connect({ secretKey, apiBase }: StripeSettings): Promise<Stripe> {
  const { Stripe } = await loadPart(() => import("stripe"));
  return new Stripe(secretKey, {
    telemetry: false,
    maxNetworkRetries: 1,
    timeout: API_TIMEOUT_MS,
    ...(apiBase === undefined ? {} : readHost(apiBase)),
  });
}

function readHost(apiBase: string) {
  const { hostname, port, protocol } = new URL(apiBase);
  return protocol === "http:"
    ? { host: hostname, port: port || "80", protocol: "http" as const }
    : { host: hostname, port: port || "443", protocol: "https" as const };
}

/** @see https://docs.stripe.com/api/checkout/sessions/create */
function createSession(stripe: Stripe, { orderId, amount, successUrl, cancelUrl }: CheckoutOrder) {
  const unitAmount = Number(amount / NANOS_PER_CENT);
  const product = { name: "Wallet top-up" };
  return stripe.checkout.sessions.create(
    {
      mode: "payment",
      client_reference_id: orderId,
      metadata: { [METADATA_ORDER]: orderId },
      line_items: [
        { quantity: 1, price_data: { currency: "usd", unit_amount: unitAmount, product_data: product } },
      ],
      success_url: successUrl,
      cancel_url: cancelUrl,
    },
    { idempotencyKey: orderId },
  );
}

/**
 * Returns the header of an event unless it names no time, several, or one in the future: the library refuses
 * old events only.
 */
function readSignature({ signature = "", nowMs }: SignedEvent): string {
  const times = signature.split(",").filter((part) => part.trim().startsWith("t="));
  const [only = "", ...others] = times;
  const seconds = /^t=(\d{1,12})$/.exec(only)?.[1];
  const isOurs = seconds !== undefined && others.length === 0;
  if (!isOurs || Number(seconds) > Math.floor(nowMs / 1000) + TOLERANCE_S) {
    throw new GatewayError("wrong_signature");
  }
  return signature;
}

/**
 * Reads the checkout of a signed event. The library checks the signature alone, not the members.
 * @see https://docs.stripe.com/api/events/types
 */
function readCheckoutEvent(event: unknown): CheckoutEvent | undefined {
  if (!isObject(event) || !isObject(event.data) || !isObject(event.data.object)) return undefined;
  const session = event.data.object;
  const kind = readKind(event.type, session.payment_status);
  if (kind === undefined || typeof session.id !== "string" || !SESSION_ID.test(session.id)) return undefined;
  const { metadata, amount_total: amountTotal, currency } = session;
  const orderId = isObject(metadata) ? metadata[METADATA_ORDER] : undefined;
  return {
    kind,
    sessionId: session.id,
    orderId: typeof orderId === "string" && SESSION_ID.test(orderId) ? orderId : undefined,
    amountTotal: typeof amountTotal === "number" ? amountTotal : undefined,
    currency: typeof currency === "string" ? currency : undefined,
  };
}

const REVERSALS: Readonly<Record<string, ReversalEvent["action"]>> = {
  "charge.dispute.created": "payment.disputed",
  "charge.dispute.closed": "payment.dispute_closed",
  "charge.refunded": "payment.refunded",
};

/**
 * Reads a dispute or a refunded charge. Texts that are no plain words are left out: they are shown to operators.
 * @see https://docs.stripe.com/api/events/types
 */
function readReversal(event: unknown): ReversalEvent | undefined {
  if (!isObject(event) || typeof event.type !== "string" || !isObject(event.data)) return undefined;
  const action = Object.hasOwn(REVERSALS, event.type) ? REVERSALS[event.type] : undefined;
  const { object } = event.data;
  if (action === undefined || !isObject(object)) return undefined;
  const objectId = readWord(object.id);
  if (objectId === undefined) return undefined;
  const isRefund = action === "payment.refunded";
  const amount = isRefund ? object.amount_refunded : object.amount;
  return {
    kind: "reversed",
    action,
    objectId,
    payment: readWord(object.payment_intent) ?? readWord(object.charge),
    amount: Number.isSafeInteger(amount) ? Number(amount) : undefined,
    currency: readWord(object.currency),
    state: isRefund ? undefined : readWord(object.status),
  };
}

function readWord(value: unknown): string | undefined {
  return typeof value === "string" && SESSION_ID.test(value) ? value : undefined;
}

/** A delayed payment method completes its session first; another event reports whether it was paid. */
function readKind(type: unknown, paymentStatus: unknown): CheckoutEvent["kind"] | undefined {
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
