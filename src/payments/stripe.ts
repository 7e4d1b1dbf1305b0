// The face of Stripe: its pages, its signed events, saved cards and past payments.
import type { Nanos } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { createPlanBilling, type PlanBilling } from "./stripe-billing.ts";
import { createSavedCards, type SavedCards } from "./stripe-cards.ts";
import { METADATA, readStripeEvent, type StripeEvent } from "./stripe-events.ts";
import {
  CURRENCY,
  createStripeLoader,
  failUnavailable,
  nanosToCents,
  type Stripe,
  type StripeSettings,
} from "./stripe-library.ts";
import { createPaymentRecords, type PaymentRecords } from "./stripe-records.ts";

/** What a page of Stripe asks for. */
export interface CheckoutOrder {
  /** Our own id: the idempotency key of the order, which comes back in every event. */
  readonly orderId: string;
  /** USD in whole cents. */
  readonly amount: Nanos;
  /** Where the browser returns; neither page decides about a credit. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  /** Whether Stripe makes an invoice. Default: false. */
  readonly hasInvoice?: boolean | undefined;
  /** Whether Stripe adds the tax of the payer's place to the amount. Default: false. */
  readonly hasTax?: boolean | undefined;
}

export interface CheckoutPage {
  readonly sessionId: string;
  /** Where the payer goes. */
  readonly url: string;
}

/** Payments by Stripe Checkout. */
export interface StripeClient {
  /** Rejects with `payments_unavailable`. */
  createPage(order: CheckoutOrder): Promise<CheckoutPage>;
  /**
   * Reads a signed event from its raw body. `undefined` for an event that concerns no payment. Rejects with
   * `wrong_signature` for a forged event, and for one sent over 5 minutes before or after `nowMs`.
   */
  readEvent(event: SignedEvent): Promise<StripeEvent | undefined>;
}

/** Everything that is asked of Stripe. */
export interface FullStripe extends StripeClient, SavedCards, PaymentRecords, PlanBilling {}

interface SignedEvent {
  readonly body: Uint8Array;
  /** The header `stripe-signature`. */
  readonly signature: string | undefined;
  readonly nowMs: number;
}

const TOLERANCE_S = 300;

/** The page of a wallet, to which Stripe returns its payer. */
export function addressOfWallet(publicUrl: string, accountId: string): string {
  return `${publicUrl}/console/accounts/${encodeURIComponent(accountId)}/wallet`;
}

export function createStripeClient(settings: StripeSettings): FullStripe {
  const load = createStripeLoader(settings);
  return {
    ...createSavedCards(load),
    ...createPaymentRecords(load),
    ...createPlanBilling(load),
    async createPage(order) {
      const stripe = await load();
      const { id, url } = await createSession(stripe, order).catch(failUnavailable);
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
      return readStripeEvent(verified);
    },
  };
}

/**
 * Names no method of payment: Stripe offers those that its dashboard has switched on.
 * @see https://docs.stripe.com/api/checkout/sessions/create
 */
function createSession(stripe: Stripe, order: CheckoutOrder) {
  const { orderId, amount, successUrl, cancelUrl, hasInvoice, hasTax } = order;
  const price = {
    currency: CURRENCY,
    unit_amount: nanosToCents(amount),
    product_data: { name: "Wallet top-up" },
    ...(hasTax && { tax_behavior: "exclusive" as const }),
  };
  return stripe.checkout.sessions.create(
    {
      mode: "payment",
      client_reference_id: orderId,
      metadata: { [METADATA.order]: orderId },
      line_items: [{ quantity: 1, price_data: price }],
      success_url: successUrl,
      cancel_url: cancelUrl,
      ...(hasInvoice && { invoice_creation: { enabled: true } }),
      ...(hasTax && { automatic_tax: { enabled: true } }),
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
