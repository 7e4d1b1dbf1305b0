// Orders of plans as the database keeps them.
import { and, desc, eq, isNotNull } from "drizzle-orm";
import type { Database, Db, Tables } from "../../db/database.ts";
import { type PrintedPlan, printPlan, readPlan } from "../plan-text.ts";
import type { SettledInvoice, Term } from "./settle.ts";

/** An order of a plan, and what is known of the subscription at Stripe that came of it. */
export type PlanOrderRow = Tables["planOrders"]["$inferSelect"];

interface PrintedTerm {
  readonly price_id: string | null;
  readonly plan: PrintedPlan;
}

export function printTerms(terms: readonly Term[]): object {
  return terms.map(
    ({ priceId, plan }): PrintedTerm => ({ price_id: priceId ?? null, plan: printPlan(plan) }),
  );
}

export function readTerms({ terms }: Pick<PlanOrderRow, "terms">): readonly Term[] {
  // Safe because printTerms is the only writer of the column.
  const printed = terms as readonly PrintedTerm[];
  return printed.map(({ price_id: priceId, plan }) => ({
    priceId: priceId ?? undefined,
    plan: readPlan(plan),
  }));
}

/** Finds the order that a subscription at Stripe came of, once it was seen. */
export async function findOrderOf(
  { db, tables: { planOrders } }: Database,
  stripeId: string,
): Promise<PlanOrderRow | undefined> {
  const [row] = await db.select().from(planOrders).where(eq(planOrders.stripeId, stripeId));
  return row;
}

/** Finds an order by its id. */
export async function findOrder(
  { db, tables: { planOrders } }: Database,
  id: string,
  tx: Db = db,
): Promise<PlanOrderRow | undefined> {
  const [row] = await tx.select().from(planOrders).where(eq(planOrders.id, id));
  return row;
}

/** Finds the customer at Stripe of an account, by its newest order that has one. */
export async function findCustomer(
  { db, tables: { planOrders } }: Database,
  accountId: string,
): Promise<string | undefined> {
  const [row] = await db
    .select({ customerId: planOrders.customerId })
    .from(planOrders)
    .where(and(eq(planOrders.accountId, accountId), isNotNull(planOrders.customerId)))
    .orderBy(desc(planOrders.id))
    .limit(1);
  return row?.customerId ?? undefined;
}

/** The ids of the invoices of an order that were granted. */
export async function findInvoiceIds(
  { tables: { planInvoices } }: Database,
  tx: Db,
  orderId: string,
): Promise<ReadonlySet<string>> {
  const rows = await tx
    .select({ id: planInvoices.id })
    .from(planInvoices)
    .where(eq(planInvoices.orderId, orderId));
  return new Set(rows.map(({ id }) => id));
}

/** Stores granted invoices, each once. */
export async function insertInvoices(
  { tables: { planInvoices } }: Database,
  tx: Db,
  orderId: string,
  settled: readonly SettledInvoice[],
): Promise<void> {
  if (settled.length === 0) return;
  const rows = settled.map(({ invoice, grant }) => ({
    id: invoice.id,
    orderId,
    subscriptionId: grant.subscriptionId,
    accountId: grant.accountId,
    planId: grant.planId,
    intentId: invoice.intentId ?? null,
    grantId: grant.id,
    paid: invoice.paid,
    net: invoice.net,
    credited: grant.amount,
    startsAtMs: invoice.startsAtMs,
    endsAtMs: invoice.endsAtMs,
    paidAtMs: invoice.paidAtMs,
    createdAtMs: grant.decidedAtMs,
  }));
  await tx.insert(planInvoices).values(rows);
}
