import { and, desc, eq, gt, isNull, or, sql } from "drizzle-orm";
import { containsText, memberOf } from "../accounts/contains-text.ts";
import { orderRows, type RowOrders } from "../accounts/ordered-rows.ts";
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

/** What subscriptions are ordered by; `next` is the next period, or the end. */
export const SUBSCRIPTION_ORDERS = ["account", "plan", "next"] as const;

interface SubscriptionPage {
  /** Default: every account. */
  readonly accountId?: string | undefined;
  /** Leaves those out that have ended. */
  readonly isLive?: boolean | undefined;
  readonly state?: Subscription["state"] | undefined;
  /** Part of the name of the account or plan, or of their ids. */
  readonly text?: string | undefined;
  /** Default: the newest first. */
  readonly sort?: string | undefined;
  readonly token?: string | undefined;
  readonly size: number;
}

/** Lists a page of subscriptions, with the names of their accounts. */
export async function listSubscriptions(
  database: Database,
  { accountId, isLive, state, text, size, ...page }: SubscriptionPage,
) {
  const { db, tables } = database;
  const { accounts, subscriptions } = tables;
  const { id, plan, nextAtMs, paidUntilMs, endedAtMs } = subscriptions;
  const planName = memberOf(database, plan, "name");
  const nextMs = sql`CASE WHEN ${subscriptions.stripeId} IS NULL THEN ${nextAtMs} ELSE ${paidUntilMs} END`;
  const orders: Record<(typeof SUBSCRIPTION_ORDERS)[number], RowOrders[string]> = {
    account: { by: accounts.name, isText: true },
    plan: { by: planName, isText: true },
    next: { by: sql`coalesce(${endedAtMs}, ${nextMs})` },
  };
  const ordered = orderRows({ orders, id, ...page });
  const conditions = [
    accountId === undefined ? undefined : eq(subscriptions.accountId, accountId),
    isLive ? isNull(endedAtMs) : undefined,
    state && eq(subscriptions.state, state),
    containsText([accounts.name, accounts.id, planName, memberOf(database, plan, "id")], text),
    ordered.isAfter,
  ];
  const rows = await db
    .select({ row: subscriptions, accountName: accounts.name, value: ordered.value })
    .from(subscriptions)
    .leftJoin(accounts, eq(accounts.id, subscriptions.accountId))
    .where(and(...conditions))
    .orderBy(ordered.orderBy)
    .limit(size + 1);
  const names = new Map(rows.map(({ row, accountName }) => [row.id, accountName]));
  const { items, next } = ordered.pageOf(rows, size);
  return {
    items: items.map((row) => ({ ...readSubscription(row), accountName: names.get(row.id) ?? null })),
    next,
  };
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
