import { and, desc, eq, gt, isNull, lt, or } from "drizzle-orm";
import type { Database, Db } from "../db/database.ts";
import { type Grant, readGrant, readSubscription, type Subscription } from "./subscription.ts";

/** Finds a subscription by its id. */
export async function findSubscription(
  { db, tables: { subscriptions } }: Database,
  id: string,
): Promise<Subscription | undefined> {
  const [row] = await db.select().from(subscriptions).where(eq(subscriptions.id, id));
  return row && readSubscription(row);
}

/** Finds the subscription of an account that has not ended. */
export async function findLive(
  { db, tables: { subscriptions } }: Database,
  accountId: string,
  tx: Db = db,
): Promise<Subscription | undefined> {
  const isOwn = and(eq(subscriptions.accountId, accountId), isNull(subscriptions.endedAtMs));
  const [row] = await tx.select().from(subscriptions).where(isOwn);
  return row && readSubscription(row);
}

/** Reads the subscriptions that live, and those that have ended since a time. */
export async function readLived(
  { db, tables: { subscriptions } }: Database,
  sinceMs: number,
): Promise<readonly Subscription[]> {
  const { endedAtMs } = subscriptions;
  const lives = or(isNull(endedAtMs), gt(endedAtMs, sinceMs));
  return (await db.select().from(subscriptions).where(lives)).map(readSubscription);
}

/** Whether a subscription has not ended. */
export function isLive({ endedAtMs }: Subscription): boolean {
  return endedAtMs === undefined;
}

interface SubscriptionFilter {
  /** Default: every account. */
  readonly accountId?: string | undefined;
  /** Leaves those out that have ended. */
  readonly isLive?: boolean | undefined;
}

interface PageOf {
  readonly size: number;
  /** The id of the last item of the page before. */
  readonly after?: string | undefined;
}

/** Lists subscriptions, newest first. */
export async function listSubscriptions(
  { db, tables: { subscriptions } }: Database,
  { accountId, isLive }: SubscriptionFilter,
  { size, after }: PageOf,
): Promise<readonly Subscription[]> {
  const conditions = [
    accountId === undefined ? undefined : eq(subscriptions.accountId, accountId),
    isLive ? isNull(subscriptions.endedAtMs) : undefined,
    after === undefined ? undefined : lt(subscriptions.id, after),
  ];
  const rows = await db
    .select()
    .from(subscriptions)
    .where(and(...conditions))
    .orderBy(desc(subscriptions.id))
    .limit(size);
  return rows.map(readSubscription);
}

/** Lists the newest credits of a subscription, newest first. */
export async function listGrants(
  { db, tables: { planGrants } }: Database,
  subscriptionId: string,
  size: number,
): Promise<readonly Grant[]> {
  const rows = await db
    .select()
    .from(planGrants)
    .where(eq(planGrants.subscriptionId, subscriptionId))
    .orderBy(desc(planGrants.period), desc(planGrants.decidedAtMs))
    .limit(size);
  return rows.map(readGrant);
}
