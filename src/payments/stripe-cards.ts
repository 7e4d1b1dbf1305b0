// Saved cards at Stripe, and payments by them without their owner.
import type { Nanos } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { METADATA, readId } from "./stripe-events.ts";
import {
  CURRENCY,
  centsToNanos,
  failUnavailable,
  nameFault,
  nanosToCents,
  type Stripe,
} from "./stripe-library.ts";

/** A page on which an owner saves a card. */
export interface CardOrder {
  /** Our own id: the idempotency key of the page, which comes back in its event. */
  readonly setupId: string;
  /** Absent: Stripe makes a customer. */
  readonly customerId: string | undefined;
  readonly successUrl: string;
  readonly cancelUrl: string;
}

/** A card, or another method of payment, that may be charged without its owner. */
export interface SavedCard {
  readonly customerId: string;
  readonly paymentMethodId: string;
  /** "visa 4242", or the kind of another method. */
  readonly card: string;
}

/** A payment without its owner. */
export interface ChargeOrder {
  /** Our own id: the idempotency key of the payment, which comes back in every event. */
  readonly orderId: string;
  /** USD in whole cents. */
  readonly amount: Nanos;
  readonly customerId: string;
  readonly paymentMethodId: string;
  /** Where an owner would return from a page of the bank. */
  readonly returnUrl: string;
  /** When the order was stored. */
  readonly createdAtMs: number;
}

/** The state of a payment. After `unknown`, ask again: Stripe may have taken the money. */
export type PaymentState =
  | { readonly kind: "paid"; readonly intentId: string; readonly amount: Nanos; readonly currency: string }
  | { readonly kind: "processing"; readonly intentId: string }
  | { readonly kind: "refused"; readonly intentId: string | undefined; readonly code: string }
  | { readonly kind: "unknown"; readonly code: string };

export interface SavedCards {
  /** Rejects with `payments_unavailable`. */
  createCardPage(order: CardOrder): Promise<{ readonly sessionId: string; readonly url: string }>;
  /** Reads the card of a finished page; `undefined` when it saved none. Rejects with `payments_unavailable`. */
  readCard(setupIntentId: string): Promise<SavedCard | undefined>;
  /** Forgets a card at Stripe. Rejects with `payments_unavailable`. */
  forgetCard(paymentMethodId: string): Promise<void>;
  /** Pays. May be repeated: one order is one payment for 24 hours. */
  charge(order: ChargeOrder): Promise<PaymentState>;
  /** Finds the payment of an order that may have been sent; `undefined` when Stripe has none. */
  findCharge(order: ChargeOrder): Promise<PaymentState | undefined>;
  /** Reads the state of a payment. */
  readCharge(intentId: string): Promise<PaymentState>;
  /** Ends a refused payment, so that no one can complete it. Ignores a failure. */
  cancelCharge(intentId: string): Promise<void>;
}

export function createSavedCards(load: () => Promise<Stripe>): SavedCards {
  return {
    async createCardPage(order) {
      const { id, url } = await createPage(await load(), order).catch(failUnavailable);
      if (!url) throw new GatewayError("payments_unavailable");
      return { sessionId: id, url };
    },
    async readCard(setupIntentId) {
      const { setupIntents } = await load();
      const options = { expand: ["payment_method"] };
      const setup = await setupIntents.retrieve(setupIntentId, options).catch(failUnavailable);
      return setup.status === "succeeded" ? readSaved(setup) : undefined;
    },
    async forgetCard(paymentMethodId) {
      const { paymentMethods } = await load();
      await paymentMethods.detach(paymentMethodId).catch(failUnavailable);
    },
    charge: async (order) => settle(createCharge(await load(), order)),
    async findCharge(order) {
      const stripe = await load();
      try {
        const found = await findIntent(stripe, order);
        return found && readIntent(found);
      } catch (error) {
        return { kind: "unknown", code: nameFault(error) };
      }
    },
    readCharge: async (intentId) => settle((await load()).paymentIntents.retrieve(intentId)),
    async cancelCharge(intentId) {
      const { paymentIntents } = await load();
      await paymentIntents.cancel(intentId).catch(() => undefined);
    },
  };
}

/** @see https://docs.stripe.com/payments/save-and-reuse?platform=checkout */
function createPage(stripe: Stripe, { setupId, customerId, successUrl, cancelUrl }: CardOrder) {
  return stripe.checkout.sessions.create(
    {
      mode: "setup",
      currency: CURRENCY,
      client_reference_id: setupId,
      metadata: { [METADATA.setup]: setupId },
      ...(customerId === undefined ? { customer_creation: "always" } : { customer: customerId }),
      success_url: successUrl,
      cancel_url: cancelUrl,
    },
    { idempotencyKey: setupId },
  );
}

function readSaved(setup: Stripe.SetupIntent): SavedCard | undefined {
  const { customer, payment_method: method } = setup;
  const customerId = readId(typeof customer === "string" ? customer : customer?.id);
  if (!customerId || !method || typeof method === "string") return undefined;
  const paymentMethodId = readId(method.id);
  if (!paymentMethodId) return undefined;
  const { card } = method;
  const name = card ? `${card.brand} ${card.last4}` : method.type;
  return { customerId, paymentMethodId, card: name.replace(/[^\w ]/g, "").slice(0, 40) };
}

/** @see https://docs.stripe.com/payments/save-and-reuse#charge-saved-payment-method */
function createCharge(stripe: Stripe, order: ChargeOrder) {
  const { orderId, amount, customerId, paymentMethodId, returnUrl } = order;
  return stripe.paymentIntents.create(
    {
      amount: nanosToCents(amount),
      currency: CURRENCY,
      customer: customerId,
      payment_method: paymentMethodId,
      off_session: true,
      confirm: true,
      return_url: returnUrl,
      description: "Automatic wallet top-up",
      metadata: { [METADATA.autoTopUp]: orderId },
    },
    { idempotencyKey: orderId },
  );
}

/** Clocks differ: a payment may be older at Stripe than our row of it. */
const CLOCKS_S = 86_400;
const PAGE_SIZE = 100;

async function findIntent(
  stripe: Stripe,
  { orderId, customerId, createdAtMs }: ChargeOrder,
): Promise<Stripe.PaymentIntent | undefined> {
  const created = { gte: Math.floor(createdAtMs / 1000) - CLOCKS_S };
  const intents = stripe.paymentIntents.list({ customer: customerId, created, limit: PAGE_SIZE });
  for await (const intent of intents) if (intent.metadata[METADATA.autoTopUp] === orderId) return intent;
  return undefined;
}

async function settle(answer: Promise<Stripe.PaymentIntent>): Promise<PaymentState> {
  return answer.then(readIntent, readFailure);
}

function readIntent(intent: Stripe.PaymentIntent): PaymentState {
  const { id: intentId, status, amount_received: received, currency, last_payment_error: error } = intent;
  switch (status) {
    case "succeeded":
      return { kind: "paid", intentId, amount: centsToNanos(received), currency };
    case "processing":
      return { kind: "processing", intentId };
    case "requires_action":
    case "canceled":
      return { kind: "refused", intentId, code: readCode(error) ?? status };
    default:
      // Without an error, another call is still about to confirm it.
      return error
        ? { kind: "refused", intentId, code: readCode(error) ?? status }
        : { kind: "unknown", code: status };
  }
}

/** A failed call says something about the card only if Stripe has decided: all else may be repeated. */
function readFailure(error: unknown): PaymentState {
  const isObject = typeof error === "object" && error !== null;
  const type = isObject && "type" in error ? error.type : undefined;
  if (type !== "StripeCardError" && type !== "StripeInvalidRequestError") {
    return { kind: "unknown", code: nameFault(error) };
  }
  const intent = isObject && "payment_intent" in error ? error.payment_intent : undefined;
  const hasId = typeof intent === "object" && intent !== null && "id" in intent;
  const intentId = hasId ? readId(intent.id) : undefined;
  return { kind: "refused", intentId, code: readCode(error) ?? nameFault(error) };
}

/** The reason of a decline: "insufficient_funds", "authentication_required". */
function readCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const code = "code" in error ? readId(error.code) : undefined;
  if (code === "authentication_required") return code;
  return ("decline_code" in error ? readId(error.decline_code) : undefined) ?? code;
}
