// Redeem codes and card payments, automatic top-ups, payments that Stripe has reversed, and payments by signed calls.
import { sql } from "drizzle-orm";
import type { CreditSource } from "../../domain/credit.ts";
import type { Columns } from "../sqlite/columns.ts";

/** Codes that add money to a wallet, each once. `digest` is the SHA-256 of the code in hex. */
export const redeemCodes = (t: Columns) =>
  t.createTable("redeem_codes", {
    id: t.text("id").primaryKey(),
    digest: t.text("digest").notNull().unique(),
    hint: t.text("hint").notNull(),
    amount: t.nanos("amount").notNull(),
    note: t.text("note"),
    createdBy: t.text("created_by").notNull(),
    createdAtMs: t.whole("created_at_ms").notNull(),
    expiresAtMs: t.whole("expires_at_ms"),
    redeemedAtMs: t.whole("redeemed_at_ms"),
    accountId: t.text("account_id"),
    creditedAtMs: t.whole("credited_at_ms"),
    /** Null for a purchase: of codes from before credits had a source. */
    source: t.text("source").$type<CreditSource>(),
    /** From the redemption to the end of the credit; null for never. */
    creditDays: t.whole("credit_days"),
  });

/** Payments by Stripe Checkout. The id is that of the checkout session, and of its top-up. */
export const checkouts = (t: Columns) =>
  t.createTable(
    "checkouts",
    {
      id: t.text("id").primaryKey(),
      accountId: t.text("account_id").notNull(),
      amount: t.nanos("amount").notNull(),
      currency: t.text("currency").notNull(),
      createdBy: t.text("created_by").notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
      paidAtMs: t.whole("paid_at_ms"),
      creditedAtMs: t.whole("credited_at_ms"),
      expiredAtMs: t.whole("expired_at_ms"),
      /** The PaymentIntent of a paid session. Null for those paid before it was kept. */
      intentId: t.text("intent_id"),
      /** What the payer paid, taxes included. Null: `amount`. */
      paidTotal: t.nanos("paid_total"),
    },
    (table) => [
      t.index("checkouts_account").on(table.accountId),
      t.index("checkouts_intent").on(table.intentId),
    ],
  );

/** The automatic top-up of an account: below `below`, `amount` is added, at most `monthMax` in a UTC month. */
export const autoTopUps = (t: Columns) =>
  t.createTable("auto_top_ups", {
    accountId: t.text("account_id").primaryKey(),
    /** `stopped` after a failed payment, until the balance was above `below`; `off` by its owner or two failures. */
    state: t.text("state").$type<"on" | "stopped" | "off">().notNull(),
    below: t.nanos("below").notNull(),
    amount: t.nanos("amount").notNull(),
    monthMax: t.nanos("month_max").notNull(),
    /** Ids of Stripe. Null until a card is saved. */
    customerId: t.text("customer_id"),
    paymentMethodId: t.text("payment_method_id"),
    /** "visa 4242" */
    card: t.text("card"),
    /** The number of the newest payment: each crossing has one. */
    crossings: t.whole("crossings").notNull().default(0),
    /** Failed payments in a row. */
    failures: t.whole("failures").notNull().default(0),
    /** The month for which the owners know that its maximum is reached. */
    cappedMonth: t.text("capped_month"),
    updatedAtMs: t.whole("updated_at_ms").notNull(),
  });

/** Payments of automatic top-ups. The row is committed before Stripe is called; its id is the idempotency key. */
export const autoPayments = (t: Columns) =>
  t.createTable(
    "auto_payments",
    {
      id: t.text("id").primaryKey(),
      accountId: t.text("account_id").notNull(),
      amount: t.nanos("amount").notNull(),
      currency: t.text("currency").notNull(),
      customerId: t.text("customer_id").notNull(),
      paymentMethodId: t.text("payment_method_id").notNull(),
      /** The UTC month whose maximum it counts against: "2026-11". */
      month: t.text("month").notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
      attempts: t.whole("attempts").notNull().default(0),
      /** When Stripe is asked next. Null once the payment has succeeded or failed. */
      nextAtMs: t.whole("next_at_ms"),
      /** The PaymentIntent: the id of the top-up. */
      intentId: t.text("intent_id"),
      paidAtMs: t.whole("paid_at_ms"),
      creditedAtMs: t.whole("credited_at_ms"),
      failedAtMs: t.whole("failed_at_ms"),
      failure: t.text("failure"),
    },
    (table) => [
      t.index("auto_payments_account").on(table.accountId, table.month),
      t.index("auto_payments_next").on(table.nextAtMs),
      t
        .index("auto_payments_open")
        .on(table.accountId)
        .where(sql`failed_at_ms IS NULL AND credited_at_ms IS NULL`),
      t.uniqueIndex("auto_payments_intent").on(table.intentId),
    ],
  );

/** Pages of Stripe on which a card is saved. The id is ours, and each is used once. */
export const cardSetups = (t: Columns) =>
  t.createTable("card_setups", {
    id: t.text("id").primaryKey(),
    accountId: t.text("account_id").notNull(),
    createdBy: t.text("created_by").notNull(),
    createdAtMs: t.whole("created_at_ms").notNull(),
    usedAtMs: t.whole("used_at_ms"),
  });

/** Refunds and disputes of our payments. The id is Stripe's, and that of the correction. */
export const reversals = (t: Columns) =>
  t.createTable(
    "reversals",
    {
      id: t.text("id").primaryKey(),
      kind: t.text("kind").$type<"refund" | "dispute">().notNull(),
      accountId: t.text("account_id").notNull(),
      /** The id of the top-up that the payment had credited. */
      paymentId: t.text("payment_id").notNull(),
      /** What the payer has back, taxes included. */
      reversed: t.nanos("reversed").notNull(),
      /** What the wallet loses. */
      amount: t.nanos("amount").notNull(),
      /** As it was configured when the reversal arrived. */
      effect: t.text("effect").$type<"debit" | "freeze" | "record">().notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
      bookedAtMs: t.whole("booked_at_ms"),
      /** When a dispute was won, or a refund failed. */
      returnedAtMs: t.whole("returned_at_ms"),
      returnBookedAtMs: t.whole("return_booked_at_ms"),
    },
    (table) => [t.index("reversals_payment").on(table.paymentId)],
  );

/**
 * Payments by signed calls, and what takes them back: the id is that of the top-up, or of the correction. Batches of
 * redeem codes too, so that each is made once.
 */
export const signedPayments = (t: Columns) =>
  t.createTable(
    "signed_payments",
    {
      id: t.text("id").primaryKey(),
      callerId: t.text("caller_id").notNull(),
      /** Empty for a batch of codes. */
      accountId: t.text("account_id").notNull(),
      /** Above 0, also where it is taken off the wallet. */
      amount: t.nanos("amount").notNull(),
      /** The payment that is taken back. Null for a payment. */
      paymentId: t.text("payment_id"),
      source: t.text("source").$type<CreditSource>().notNull(),
      expiresAtMs: t.whole("expires_at_ms"),
      /** What was taken back of a payment so far. */
      reversed: t.nanos("reversed").notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
      bookedAtMs: t.whole("booked_at_ms"),
    },
    (table) => [t.index("signed_payments_unbooked").on(table.createdAtMs).where(sql`booked_at_ms IS NULL`)],
  );

/** What the signed calls of a caller have added in a UTC day. */
export const signedDays = (t: Columns) =>
  t.createTable(
    "signed_days",
    {
      callerId: t.text("caller_id").notNull(),
      /** "2026-11-27" */
      day: t.text("day").notNull(),
      amount: t.nanos("amount").notNull(),
    },
    (table) => [t.primaryKey({ columns: [table.callerId, table.day] })],
  );
