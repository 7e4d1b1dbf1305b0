// Subscriptions at Stripe: their pages, what they are now, and their paid invoices.
import type { Nanos } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { type BilledSubscription, readInvoice, readSubscription } from "./stripe-billing-shapes.ts";
import { METADATA, readId } from "./stripe-events.ts";
import { CURRENCY, failUnavailable, nameFault, nanosToCents, type Stripe } from "./stripe-library.ts";

/** A page on which an owner subscribes to a plan. */
interface PlanOrder {
  /** Our own id: the idempotency key of the page, which comes back with the subscription. */
  readonly orderId: string;
  /** As the payer reads it. */
  readonly name: string;
  readonly price: PlanPrice;
  /** The customer of an earlier order of the account; absent: Stripe makes one. */
  readonly customerId: string | undefined;
  readonly successUrl: string;
  readonly cancelUrl: string;
  /** Whether Stripe adds the tax of the payer's place. */
  readonly hasTax: boolean;
}

/** A price that Stripe has, or one that is made of an amount and a period. */
export type PlanPrice =
  | { readonly priceId: string }
  | { readonly amount: Nanos; readonly interval: "month" | "day"; readonly count: number };

/** A subscription at Stripe that carries the id of an order. */
interface ListedSubscription {
  readonly stripeId: string;
  readonly orderId: string;
}

/** Every method rejects with `payments_unavailable`. */
export interface PlanBilling {
  createPlanPage(order: PlanOrder): Promise<{ readonly sessionId: string; readonly url: string }>;
  /** Ends a page that is not paid. Ignores one that was paid or has ended. */
  expirePage(sessionId: string): Promise<void>;
  /** Finds the subscription that was bought on a page; `undefined` while there is none. */
  findBought(sessionId: string): Promise<string | undefined>;
  /** Finds the subscription whose invoice a payment has paid; `undefined` for a payment of anything else. */
  findPaidFor(intentId: string): Promise<string | undefined>;
  /** Opens the customer portal. Returns its address. */
  openPortal(portal: { readonly customerId: string; readonly returnUrl: string }): Promise<string>;
  /** Reads a subscription and all its paid invoices; `undefined` where Stripe has none. */
  readBilled(stripeId: string): Promise<BilledSubscription | undefined>;
  /** Ends a subscription at once, without a refund. May be repeated. */
  cancelBilled(stripeId: string): Promise<void>;
  /** Lets a subscription end with its period, or takes that back. */
  setEnding(stripeId: string, endsWithPeriod: boolean): Promise<void>;
  /** Stops or resumes the collection of payments: invoices of meanwhile are void. */
  setHeld(stripeId: string, isHeld: boolean): Promise<void>;
  /** All subscriptions with the id of an order that have not ended. */
  listBilled(): Promise<readonly ListedSubscription[]>;
}

const PAGE_SIZE = 100;

export function createPlanBilling(load: () => Promise<Stripe>): PlanBilling {
  const call = async <Result>(work: (stripe: Stripe) => Promise<Result>): Promise<Result> =>
    work(await load()).catch(failUnavailable);
  const update = (stripeId: string, change: Stripe.SubscriptionUpdateParams) =>
    call(async (stripe) => void (await stripe.subscriptions.update(stripeId, change)));
  return {
    async createPlanPage(order) {
      const { id, url } = await call((stripe) => createSession(stripe, order));
      if (!url) throw new GatewayError("payments_unavailable");
      return { sessionId: id, url };
    },
    expirePage: (sessionId) =>
      call((stripe) => ignoring(stripe.checkout.sessions.expire(sessionId), ["http_400", "http_404"])),
    findBought: (sessionId) =>
      call(async (stripe) => {
        const { subscription } = await stripe.checkout.sessions.retrieve(sessionId);
        return readReference(subscription);
      }),
    findPaidFor: (intentId) => call((stripe) => findPaidFor(stripe, intentId)),
    openPortal: ({ customerId: customer, returnUrl: return_url }) =>
      call(async (stripe) => (await stripe.billingPortal.sessions.create({ customer, return_url })).url),
    readBilled: (stripeId) => call((stripe) => readBilled(stripe, stripeId)),
    cancelBilled: (stripeId) =>
      call((stripe) => ignoring(stripe.subscriptions.cancel(stripeId), ["http_404"])),
    setEnding: (stripeId, endsWithPeriod) => update(stripeId, { cancel_at_period_end: endsWithPeriod }),
    setHeld: (stripeId, isHeld) => update(stripeId, { pause_collection: isHeld ? { behavior: "void" } : "" }),
    listBilled: () => call(listBilled),
  };
}

/** Leaves out failures that say that there is nothing left to do. */
async function ignoring(call: Promise<unknown>, faults: readonly string[]): Promise<void> {
  await call.catch((error: unknown) => {
    if (!faults.includes(nameFault(error))) throw error;
  });
}

/** @see https://docs.stripe.com/api/checkout/sessions/create */
function createSession(stripe: Stripe, order: PlanOrder) {
  const { orderId, customerId, successUrl, cancelUrl, hasTax } = order;
  const metadata = { [METADATA.plan]: orderId };
  return stripe.checkout.sessions.create(
    {
      mode: "subscription",
      client_reference_id: orderId,
      metadata,
      subscription_data: { metadata },
      line_items: [{ quantity: 1, ...describePrice(order) }],
      ...(customerId !== undefined && { customer: customerId }),
      ...(hasTax && { automatic_tax: { enabled: true } }),
      // Stripe needs the address of a known customer for its tax.
      ...(hasTax && customerId !== undefined && { customer_update: { address: "auto" as const } }),
      success_url: successUrl,
      cancel_url: cancelUrl,
    },
    { idempotencyKey: orderId },
  );
}

function describePrice({ name, price, hasTax }: PlanOrder) {
  if ("priceId" in price) return { price: price.priceId };
  const { amount, interval, count } = price;
  return {
    price_data: {
      currency: CURRENCY,
      unit_amount: nanosToCents(amount),
      product_data: { name },
      recurring: { interval, interval_count: count },
      ...(hasTax && { tax_behavior: "exclusive" as const }),
    },
  };
}

async function readBilled(stripe: Stripe, stripeId: string): Promise<BilledSubscription | undefined> {
  const subscription = await stripe.subscriptions.retrieve(stripeId).catch((error: unknown) => {
    if (nameFault(error) === "http_404") return undefined;
    throw error;
  });
  const seen = subscription && readSubscription(subscription);
  if (!seen) return undefined;
  const paid: Stripe.InvoiceListParams = { subscription: stripeId, status: "paid" };
  const invoices: BilledSubscription["invoices"][number][] = [];
  for await (const each of stripe.invoices.list({ ...paid, limit: PAGE_SIZE, expand: ["data.payments"] })) {
    const invoice = readInvoice(each);
    if (invoice) invoices.push(invoice);
  }
  return { ...seen, invoices };
}

async function findPaidFor(stripe: Stripe, intentId: string): Promise<string | undefined> {
  const payment = { type: "payment_intent", payment_intent: intentId } as const;
  const { data } = await stripe.invoicePayments.list({ payment, limit: 1, expand: ["data.invoice"] });
  const invoice = data[0]?.invoice;
  if (typeof invoice !== "object" || invoice.deleted) return undefined;
  return readReference(invoice.parent?.subscription_details?.subscription);
}

async function listBilled(stripe: Stripe): Promise<readonly ListedSubscription[]> {
  const listed: ListedSubscription[] = [];
  for await (const { id, metadata } of stripe.subscriptions.list({ limit: PAGE_SIZE })) {
    const orderId = readId(metadata[METADATA.plan]);
    if (orderId !== undefined && readId(id) !== undefined) listed.push({ stripeId: id, orderId });
  }
  return listed;
}

function readReference(reference: string | { readonly id: string } | null | undefined): string | undefined {
  return readId(typeof reference === "string" ? reference : reference?.id);
}
