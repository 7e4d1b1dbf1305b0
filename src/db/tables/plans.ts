// Subscriptions of accounts to plans, and the credit that their periods granted.
import { sql } from "drizzle-orm";
import type { Columns } from "../sqlite/columns.ts";

/** Subscriptions, of which an account has at most one that has not ended. */
export const subscriptions = (t: Columns) =>
  t.createTable(
    "subscriptions",
    {
      id: t.text("id").primaryKey(),
      accountId: t.text("account_id").notNull(),
      state: t.text("state").$type<"active" | "paused" | "ended">().notNull(),
      /** The plan as it was when it was chosen. */
      plan: t.printedJson("plan").$type<object>().notNull(),
      /** The plan that follows with the next period; null for the same one. */
      nextPlan: t.printedJson("next_plan").$type<object>(),
      timeZone: t.text("time_zone").notNull(),
      /** Where the period `anchor_period` begins, from which later ones are counted. */
      anchorMs: t.whole("anchor_ms").notNull(),
      anchorPeriod: t.whole("anchor_period").notNull(),
      /** The number of the first period that is not granted: it never decreases. */
      nextPeriod: t.whole("next_period").notNull(),
      /** The highest grant of the period before it, as of a whole period. */
      periodGrant: t.nanos("period_grant").notNull(),
      /** When the next period begins or the subscription ends by itself; null for never. */
      nextAtMs: t.whole("next_at_ms"),
      /** Whether it ends with the running period. */
      isCancelling: t.flag("is_cancelling").notNull().default(false),
      createdAtMs: t.whole("created_at_ms").notNull(),
      createdBy: t.text("created_by").notNull(),
      pausedAtMs: t.whole("paused_at_ms"),
      endedAtMs: t.whole("ended_at_ms"),
      /** Increases with each change; an edit of an older version is a conflict. */
      version: t.whole("version").notNull().default(1),
      /** The version whose spending limits the ledger has. */
      appliedVersion: t.whole("applied_version").notNull().default(0),
      /** The subscription at Stripe that pays for it; null for one that an operator has assigned. */
      stripeId: t.text("stripe_id"),
      /** The end of the latest period that was paid at Stripe. */
      paidUntilMs: t.whole("paid_until_ms"),
    },
    (table) => [
      t.index("subscriptions_account").on(table.accountId, table.id),
      t.uniqueIndex("subscriptions_live").on(table.accountId).where(sql`ended_at_ms IS NULL`),
      t.index("subscriptions_next").on(table.nextAtMs).where(sql`next_at_ms IS NOT NULL`),
      t.uniqueIndex("subscriptions_stripe").on(table.stripeId),
      t.index("subscriptions_unapplied").on(table.id).where(sql`applied_version < version`),
    ],
  );

/** The credits of subscriptions, each decided once; the ledger books it by its id. */
export const planGrants = (t: Columns) =>
  t.createTable(
    "plan_grants",
    {
      /** That of the top-up. */
      id: t.text("id").primaryKey(),
      subscriptionId: t.text("subscription_id").notNull(),
      accountId: t.text("account_id").notNull(),
      period: t.whole("period").notNull(),
      /** Whether it raises the credit of a period to that of another plan. */
      isRaise: t.flag("is_raise").notNull().default(false),
      planId: t.text("plan_id").notNull(),
      amount: t.nanos("amount").notNull(),
      /** The period, and the end of its credit. */
      startsAtMs: t.whole("starts_at_ms").notNull(),
      endsAtMs: t.whole("ends_at_ms").notNull(),
      expiresAtMs: t.whole("expires_at_ms").notNull(),
      decidedAtMs: t.whole("decided_at_ms").notNull(),
      /** Null until the ledger has taken it. */
      bookedAtMs: t.whole("booked_at_ms"),
    },
    (table) => [
      t.index("plan_grants_subscription").on(table.subscriptionId, table.period),
      t.index("plan_grants_unbooked").on(table.decidedAtMs).where(sql`booked_at_ms IS NULL`),
    ],
  );

/**
 * Orders of plans at Stripe. The row is committed before Stripe is called; its id is the idempotency key, and comes back
 * in the metadata of the subscription there.
 */
export const planOrders = (t: Columns) =>
  t.createTable(
    "plan_orders",
    {
      id: t.text("id").primaryKey(),
      accountId: t.text("account_id").notNull(),
      /** The plans that its prices stand for, as they were when each price was first seen. */
      terms: t.printedJson("terms").$type<object>().notNull(),
      createdBy: t.text("created_by").notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
      /** The page of Stripe. */
      sessionId: t.text("session_id"),
      customerId: t.text("customer_id"),
      /** The subscription at Stripe, from the first time it was seen. */
      stripeId: t.text("stripe_id"),
      /** The subscription here, from the first paid invoice on. */
      subscriptionId: t.text("subscription_id"),
      /** How often Stripe's state was applied: of two readers at once, the second reads again. */
      reads: t.whole("reads").notNull().default(0),
      /** When Stripe is asked next, whatever events come; null once nothing more can follow. */
      nextReadAtMs: t.whole("next_read_at_ms"),
      /** When the subscription ended at Stripe. */
      endedAtMs: t.whole("ended_at_ms"),
    },
    (table) => [
      t.index("plan_orders_account").on(table.accountId, table.id),
      t.uniqueIndex("plan_orders_stripe").on(table.stripeId),
      t.index("plan_orders_next").on(table.nextReadAtMs),
    ],
  );

/** Paid invoices of subscriptions at Stripe. The id is Stripe's: each is granted once. */
export const planInvoices = (t: Columns) =>
  t.createTable(
    "plan_invoices",
    {
      id: t.text("id").primaryKey(),
      orderId: t.text("order_id").notNull(),
      subscriptionId: t.text("subscription_id").notNull(),
      accountId: t.text("account_id").notNull(),
      planId: t.text("plan_id").notNull(),
      /** The payment, which refunds and disputes name. */
      intentId: t.text("intent_id"),
      /** The top-up. */
      grantId: t.text("grant_id").notNull(),
      /** What was paid, taxes included, and without them. */
      paid: t.nanos("paid").notNull(),
      net: t.nanos("net").notNull(),
      /** The credit that it granted. */
      credited: t.nanos("credited").notNull(),
      /** The period that it pays for. */
      startsAtMs: t.whole("starts_at_ms").notNull(),
      endsAtMs: t.whole("ends_at_ms").notNull(),
      paidAtMs: t.whole("paid_at_ms").notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
    },
    (table) => [
      t.index("plan_invoices_account").on(table.accountId, table.paidAtMs),
      t.index("plan_invoices_subscription").on(table.subscriptionId, table.startsAtMs),
      t.index("plan_invoices_intent").on(table.intentId),
    ],
  );
