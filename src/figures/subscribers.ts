import { gt, isNull, or } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { readSubscription, type Subscription } from "../plans/subscription.ts";

/** Reads the subscriptions that live, and those that have ended since a time. */
export async function readSubscriptions(
  { db, tables: { subscriptions } }: Database,
  sinceMs: number,
): Promise<readonly Subscription[]> {
  const { endedAtMs } = subscriptions;
  const rows = await db
    .select()
    .from(subscriptions)
    .where(or(isNull(endedAtMs), gt(endedAtMs, sinceMs)));
  return rows.map(readSubscription);
}

/** Whether a subscription has not ended. */
export function isLive({ endedAtMs }: Subscription): boolean {
  return endedAtMs === undefined;
}
