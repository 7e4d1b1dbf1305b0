import { and, eq, inArray } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { findAutoPayments } from "./auto-payments.ts";

/** Returns the id at Stripe of what has paid a top-up: for the credit of a plan, its invoice. */
export async function findPaidBy(
  { db, tables: { planInvoices } }: Database,
  accountId: string,
  topUpId: string,
): Promise<string> {
  const isOwn = and(eq(planInvoices.accountId, accountId), eq(planInvoices.grantId, topUpId));
  const [invoice] = await db.select({ id: planInvoices.id }).from(planInvoices).where(isOwn);
  return invoice?.id ?? topUpId;
}

/** Returns those of these top-ups of an account that Stripe has a receipt of. */
export async function findReceipts(
  database: Database,
  accountId: string,
  topUpIds: readonly string[],
): Promise<readonly string[]> {
  if (topUpIds.length === 0) return [];
  const { db, tables } = database;
  const { checkouts, planInvoices } = tables;
  const isOwn = and(eq(checkouts.accountId, accountId), inArray(checkouts.id, [...topUpIds]));
  const paid = await db.select({ id: checkouts.id }).from(checkouts).where(isOwn);
  const automatic = await findAutoPayments(database, accountId, topUpIds);
  const isGrant = and(eq(planInvoices.accountId, accountId), inArray(planInvoices.grantId, [...topUpIds]));
  const invoices = await db.select({ id: planInvoices.grantId }).from(planInvoices).where(isGrant);
  return [
    ...[...paid, ...invoices].map(({ id }) => id),
    ...automatic.flatMap(({ intentId }) => intentId ?? []),
  ];
}
