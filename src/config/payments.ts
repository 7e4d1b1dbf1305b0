import { type PaymentCallerConfig, readPaymentCallers } from "./payment-callers.ts";
import type { ConfigFile } from "./schema.ts";

/** Refunds, disputes, invoices and taxes of payments at Stripe, and the callers with a provider of their own. */
export interface PaymentsConfig {
  /** Take the money off the wallet, suspend the account, or only report it. */
  readonly onRefund: "debit" | "freeze" | "record";
  readonly onDispute: "debit" | "freeze" | "record";
  /** Whether Stripe makes an invoice of a payment by Checkout. */
  readonly hasInvoices: boolean;
  /** Whether Stripe adds the tax of the payer's place. Automatic top-ups are then not offered. */
  readonly hasTax: boolean;
  /** Who may top up wallets by signed calls. */
  readonly callers: readonly PaymentCallerConfig[];
}

/** Reads what payments at Stripe do; of an absent file, the defaults. */
export function readPayments({ payments = {} }: Pick<ConfigFile, "payments">): PaymentsConfig {
  return {
    onRefund: payments.on_refund ?? "debit",
    onDispute: payments.on_dispute ?? "debit",
    hasInvoices: payments.invoices ?? false,
    hasTax: payments.automatic_tax ?? false,
    callers: readPaymentCallers(payments.callers),
  };
}
