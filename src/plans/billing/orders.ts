// Plans that account owners buy: orders, Stripe's pages, and the customer portal.
import { and, eq, gt, isNotNull, isNull, ne } from "drizzle-orm";
import { lockAccount } from "../../accounts/accounts.ts";
import { type AuditActor, recordChange } from "../../accounts/audit-trail.ts";
import type { Database, Db } from "../../db/database.ts";
import { printUsd } from "../../domain/money.ts";
import type { Plan } from "../../domain/plan.ts";
import { GatewayError } from "../../errors.ts";
import type { PlanBilling, PlanPrice } from "../../payments/stripe-billing.ts";
import { platform } from "../../platform.ts";
import { describeFault, type Log } from "../../telemetry/log.ts";
import { requirePlan } from "../plans.ts";
import { findLive } from "../reads.ts";
import { findCustomer, printTerms } from "./order-rows.ts";

interface OrderParts {
  readonly database: Database;
  readonly stripe: PlanBilling;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export interface PlanPage {
  readonly sessionId: string;
  readonly url: string;
}

export interface PlanOrderRequest {
  readonly accountId: string;
  readonly plan: Plan;
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly hasTax: boolean;
  /** Runs in the transaction that stores the page. */
  record?(tx: Db, page: PlanPage): Promise<void>;
}

/** A page of Stripe ends after 24 hours, and its event may come an hour late. */
const PAGE_MS_MAX = 25 * 3_600_000;
/** Until Stripe is asked whether a page was paid, in case that its event is lost. */
export const ASK_PAGE_MS = 3_600_000;

/** Finds a plan that is sold. Throws `unknown_item`. */
export function requireOffer(plans: readonly Plan[] | undefined, id: string): Plan {
  return requirePlan(offersOf(plans), id);
}

/** The plans that owners may buy. */
export function offersOf(plans: readonly Plan[] | undefined): readonly Plan[] {
  return (plans ?? []).filter(({ sale, price }) => sale !== undefined && price !== undefined);
}

/**
 * Opens a page on which an owner subscribes the account to a plan; earlier pages of the account end. Grants nothing.
 * Rejects with `conflict` where the account has a subscription, and with `payments_unavailable`.
 */
export async function orderPlan(
  parts: OrderParts,
  actor: AuditActor,
  request: PlanOrderRequest,
): Promise<PlanPage> {
  const { database, stripe, now } = parts;
  const { accountId, plan, successUrl, cancelUrl, hasTax } = request;
  const { planOrders } = database.tables;
  const price = priceOf(plan);
  const orderId = await storeOrder(parts, actor, request);
  await endOtherPages(parts, accountId, orderId);
  const customerId = await findCustomer(database, accountId);
  const order = { orderId, name: plan.name, price, customerId, successUrl, cancelUrl, hasTax };
  const page = await stripe.createPlanPage(order);
  await database.transact(async (tx) => {
    const set = { sessionId: page.sessionId, nextReadAtMs: now() + ASK_PAGE_MS };
    const isNew = and(eq(planOrders.id, orderId), isNull(planOrders.stripeId));
    await tx.update(planOrders).set(set).where(isNew);
    await request.record?.(tx, page);
  });
  return page;
}

function priceOf({ sale, price, period }: Plan): PlanPrice {
  if (sale?.stripePrice !== undefined) return { priceId: sale.stripePrice };
  if (!sale || price === undefined) throw new GatewayError("unknown_item");
  if (period === "month") return { amount: price, interval: "month", count: 1 };
  return { amount: price, interval: "day", count: Number.parseInt(period, 10) };
}

/** The order is committed before Stripe is called, so that no event can come before it. */
async function storeOrder(
  { database, now }: OrderParts,
  actor: AuditActor,
  { accountId, plan }: PlanOrderRequest,
): Promise<string> {
  const createdAtMs = now();
  const id = `plan_order_${platform.uuidV7(createdAtMs)}`;
  const terms = printTerms([{ priceId: plan.sale?.stripePrice, plan }]);
  await database.transact(async (tx) => {
    if (!(await lockAccount(database, tx, accountId))) throw new GatewayError("unknown_item");
    if (await findLive(database, accountId, tx)) {
      throw new GatewayError("conflict", { message: "The account has a subscription already." });
    }
    const row = { id, accountId, terms, createdBy: actor.name, createdAtMs };
    await tx.insert(database.tables.planOrders).values(row);
    const after = { plan: plan.id, ...(plan.price !== undefined && { price_usd: printUsd(plan.price) }) };
    await recordChange(
      database,
      tx,
      actor,
      { accountId, action: "plan.ordered", target: id, after },
      createdAtMs,
    );
  });
  return id;
}

/** Two open pages could both be paid. What ends none is still safe: the second subscription ends at once. */
async function endOtherPages(
  { database: { db, tables }, stripe, log, now }: OrderParts,
  accountId: string,
  orderId: string,
): Promise<void> {
  const { planOrders } = tables;
  const isOpen = and(
    eq(planOrders.accountId, accountId),
    ne(planOrders.id, orderId),
    isNull(planOrders.stripeId),
    isNotNull(planOrders.sessionId),
    gt(planOrders.createdAtMs, now() - PAGE_MS_MAX),
  );
  for (const { sessionId } of await db.select().from(planOrders).where(isOpen)) {
    if (sessionId === null) continue;
    await stripe.expirePage(sessionId).catch((fault: unknown) => {
      log.warn({ account: accountId, ...describeFault(fault) }, "page of a plan not ended at Stripe");
    });
  }
}

/** Opens Stripe's customer portal. Rejects with `unknown_item` for an account that never bought a plan. */
export async function openPortal(
  { database, stripe }: Pick<OrderParts, "database" | "stripe">,
  { accountId, returnUrl }: { readonly accountId: string; readonly returnUrl: string },
): Promise<string> {
  const customerId = await findCustomer(database, accountId);
  if (customerId === undefined) throw new GatewayError("unknown_item");
  return stripe.openPortal({ customerId, returnUrl });
}

/** Whether a page without a subscription may still be paid. */
export function mayBePaid({ createdAtMs }: { readonly createdAtMs: number }, nowMs: number): boolean {
  return nowMs < createdAtMs + PAGE_MS_MAX + ASK_PAGE_MS;
}
