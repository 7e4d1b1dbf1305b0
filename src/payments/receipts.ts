import { and, eq, inArray } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { findAutoPayments } from "./auto-payments.ts";

/** Returns those of these top-ups of an account that Stripe has a receipt of. */
export async function findReceipts(
  database: Database,
  accountId: string,
  topUpIds: readonly string[],
): Promise<readonly string[]> {
  if (topUpIds.length === 0) return [];
  const { db, tables } = database;
  const { checkouts } = tables;
  const isOwn = and(eq(checkouts.accountId, accountId), inArray(checkouts.id, [...topUpIds]));
  const paid = await db.select({ id: checkouts.id }).from(checkouts).where(isOwn);
  const automatic = await findAutoPayments(database, accountId, topUpIds);
  return [...paid.map(({ id }) => id), ...automatic.flatMap(({ intentId }) => intentId ?? [])];
}
