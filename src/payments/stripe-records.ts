// Past payments as Stripe has them: their refunds, their sessions and their receipts.
import type { Stripe } from "./stripe-library.ts";
import { failUnavailable } from "./stripe-library.ts";

/** A refund of a payment. */
export interface StripeRefund {
  readonly id: string;
  /** In the smallest unit of the currency. */
  readonly amount: number;
  readonly currency: string;
  /** Whether the payer has the money back, or will have it. */
  readonly isGiven: boolean;
}

/** Addresses of Stripe's pages about a payment. They end after some weeks: ask at each use. */
interface PaymentLinks {
  readonly receiptUrl: string | undefined;
  readonly invoiceUrl: string | undefined;
}

/** Every method rejects with `payments_unavailable`. */
export interface PaymentRecords {
  /** All refunds of a payment, the oldest first. */
  listRefunds(intentId: string): Promise<readonly StripeRefund[]>;
  /** The checkout session of a payment. */
  findSession(intentId: string): Promise<string | undefined>;
  /** The receipt and the invoice of a checkout session, of an invoice of a plan, or of a payment. */
  readLinks(paymentId: string): Promise<PaymentLinks>;
}

const PAGE_SIZE = 100;

export function createPaymentRecords(load: () => Promise<Stripe>): PaymentRecords {
  return {
    listRefunds: async (intentId) => listRefunds(await load(), intentId).catch(failUnavailable),
    async findSession(intentId) {
      const { sessions } = (await load()).checkout;
      const { data } = await sessions.list({ payment_intent: intentId, limit: 1 }).catch(failUnavailable);
      return data[0]?.id;
    },
    readLinks: async (paymentId) => readLinks(await load(), paymentId).catch(failUnavailable),
  };
}

/** Stripe lists the newest first. */
async function listRefunds(stripe: Stripe, intentId: string): Promise<readonly StripeRefund[]> {
  const refunds: StripeRefund[] = [];
  for await (const refund of stripe.refunds.list({ payment_intent: intentId, limit: PAGE_SIZE })) {
    const { id, amount, currency, status } = refund;
    refunds.push({ id, amount, currency, isGiven: status !== "failed" && status !== "canceled" });
  }
  return refunds.reverse();
}

async function readLinks(stripe: Stripe, paymentId: string): Promise<PaymentLinks> {
  if (paymentId.startsWith("in_")) return readInvoiceLinks(stripe, paymentId);
  if (!paymentId.startsWith("cs_")) {
    return { receiptUrl: await readReceipt(stripe, paymentId), invoiceUrl: undefined };
  }
  const session = await stripe.checkout.sessions.retrieve(paymentId, { expand: ["invoice"] });
  const { payment_intent: intent, invoice } = session;
  const intentId = typeof intent === "string" ? intent : intent?.id;
  return {
    receiptUrl: intentId && (await readReceipt(stripe, intentId)),
    invoiceUrl: (typeof invoice === "object" && invoice?.hosted_invoice_url) || undefined,
  };
}

async function readInvoiceLinks(stripe: Stripe, invoiceId: string): Promise<PaymentLinks> {
  const invoice = await stripe.invoices.retrieve(invoiceId);
  return { receiptUrl: undefined, invoiceUrl: invoice.hosted_invoice_url ?? undefined };
}

async function readReceipt(stripe: Stripe, intentId: string): Promise<string | undefined> {
  const intent = await stripe.paymentIntents.retrieve(intentId, { expand: ["latest_charge"] });
  const { latest_charge: charge } = intent;
  return (typeof charge === "object" && charge?.receipt_url) || undefined;
}
