// What no event told: each order is read at Stripe once a day, and Stripe's list is compared with the orders.
import { and, asc, eq, isNotNull, lte, sql } from "drizzle-orm";
import { recordChange, SYSTEM } from "../../accounts/audit-trail.ts";
import { tryLease } from "../../db/leases.ts";
import { DAY_MS } from "../../domain/id-time.ts";
import { platform, repeat } from "../../platform.ts";
import { describeFault } from "../../telemetry/log.ts";
import { findOrderOf, type PlanOrderRow } from "./order-rows.ts";
import { ASK_PAGE_MS, mayBePaid } from "./orders.ts";
import { type BillingParts, syncBilled } from "./sync.ts";

const PASS_MS = 30_000;
const LEASE_MS = 120_000;
/** The most orders of one pass. */
const ORDERS_MAX = 200;
/** A reading that failed is repeated after this time. */
const READ_AGAIN_MS = 60_000;
const MARK = "plan_billing_listed_at";

/** One pass: reads the orders that are due, and once a day Stripe's list. Safe in any number of processes. */
export async function reconcile(parts: BillingParts): Promise<void> {
  const { database } = parts;
  const { planOrders } = database.tables;
  const isDue = and(isNotNull(planOrders.nextReadAtMs), lte(planOrders.nextReadAtMs, parts.now()));
  const due = await database.db
    .select()
    .from(planOrders)
    .where(isDue)
    .orderBy(asc(planOrders.nextReadAtMs))
    .limit(ORDERS_MAX);
  for (const order of due) await attempt(parts, order);
  if (await isListDue(parts)) await compareList(parts);
}

/** One order that fails must not hold up the others. */
async function attempt(parts: BillingParts, order: PlanOrderRow): Promise<void> {
  try {
    await readOrder(parts, order);
  } catch (thrown) {
    parts.log.warn({ order: order.id, ...describeFault(thrown) }, "plan order not read at Stripe");
    await readAgainAt(parts, order, parts.now() + READ_AGAIN_MS);
  }
}

async function readOrder(parts: BillingParts, order: PlanOrderRow): Promise<void> {
  const { sessionId, stripeId } = order;
  const bought = stripeId ?? (sessionId === null ? undefined : await parts.stripe.findBought(sessionId));
  if (bought !== undefined) return void (await syncBilled(parts, bought));
  const nowMs = parts.now();
  await readAgainAt(parts, order, mayBePaid(order, nowMs) ? nowMs + ASK_PAGE_MS : null);
}

/** Changes nothing where the order was read meanwhile. */
async function readAgainAt(
  { database: { transact, tables } }: BillingParts,
  { id, reads }: PlanOrderRow,
  nextReadAtMs: number | null,
): Promise<void> {
  const { planOrders } = tables;
  const isUnread = and(eq(planOrders.id, id), eq(planOrders.reads, reads));
  await transact(async (tx) => void (await tx.update(planOrders).set({ nextReadAtMs }).where(isUnread)));
}

async function isListDue({ database: { db, tables }, now }: BillingParts): Promise<boolean> {
  const { sharedValues } = tables;
  const [row] = await db.select().from(sharedValues).where(eq(sharedValues.name, MARK));
  const atMs = Number(row?.value ?? 0);
  // A mark in the future was written before a clock was set back.
  return atMs <= now() - DAY_MS || atMs > now();
}

/** Reads subscriptions at Stripe that no event told of, and reports those whose order is not here. */
async function compareList(parts: BillingParts): Promise<void> {
  const { database, stripe, log, now } = parts;
  const { sharedValues } = database.tables;
  const atMs = now();
  for (const { stripeId, orderId } of await stripe.listBilled()) {
    if (await findOrderOf(database, stripeId)) continue;
    const result = await syncBilled(parts, stripeId);
    if (result === "orphan") await reportOrphan(parts, stripeId, orderId);
  }
  const row = { name: MARK, value: String(atMs) };
  const set = { value: sql`excluded.value` };
  await database.transact(async (tx) => {
    await tx.insert(sharedValues).values(row).onConflictDoUpdate({ target: sharedValues.name, set });
  });
  log.info({}, "subscriptions at Stripe compared");
}

/** A subscription at Stripe that pays for nothing here: its customer is charged, and gets nothing. */
export async function reportOrphan(
  { database, log, now }: Pick<BillingParts, "database" | "log" | "now">,
  stripeId: string,
  orderId?: string,
): Promise<void> {
  const { auditEntries } = database.tables;
  const action = "subscription.unknown_at_stripe";
  log.error({ stripe: stripeId, order: orderId }, "subscription at Stripe without an account here");
  await database.transact(async (tx) => {
    const isKnown = and(eq(auditEntries.action, action), eq(auditEntries.target, stripeId));
    const [known] = await tx.select({ id: auditEntries.id }).from(auditEntries).where(isKnown).limit(1);
    const change = { action, target: stripeId, after: { order: orderId } };
    if (!known) await recordChange(database, tx, SYSTEM, change, now());
  });
}

/** Reconciles every 30 s, in one process at a time, until it is closed. */
export function startReconciliation(parts: BillingParts): { close(): Promise<void> } {
  const holder = platform.uuid();
  return repeat({
    everyMs: PASS_MS,
    run: async () => {
      const lease = { job: "plan-billing", holder, ms: LEASE_MS };
      if (await tryLease(parts.database, lease)) await reconcile(parts);
    },
    onFault: (fault) => parts.log.warn(describeFault(fault), "reconciliation with Stripe failed"),
  });
}
