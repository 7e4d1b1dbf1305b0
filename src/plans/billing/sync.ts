// Stripe's word about one subscription, applied here. Every step may be repeated, in any process.
import { eq } from "drizzle-orm";
import { lockAccount } from "../../accounts/accounts.ts";
import { SYSTEM } from "../../accounts/audit-trail.ts";
import type { Database, Db } from "../../db/database.ts";
import { DAY_MS } from "../../domain/id-time.ts";
import type { Plan } from "../../domain/plan.ts";
import { GatewayError } from "../../errors.ts";
import type { PlanBilling } from "../../payments/stripe-billing.ts";
import type { BilledSubscription } from "../../payments/stripe-billing-shapes.ts";
import { platform } from "../../platform.ts";
import type { Log } from "../../telemetry/log.ts";
import type { PlanParts } from "../booking.ts";
import { alignLedger } from "../plans.ts";
import { findLive } from "../reads.ts";
import { type Subscription, writeSubscription } from "../subscription.ts";
import { insertDecision, lockSubscription, saveDecision } from "../subscriptions.ts";
import {
  findInvoiceIds,
  findOrder,
  findOrderOf,
  insertInvoices,
  type PlanOrderRow,
  printTerms,
  readTerms,
} from "./order-rows.ts";
import { type Cause, recordSettled, reportRefused } from "./record.ts";
import { type Settlement, settle } from "./settle.ts";

/** What subscriptions that Stripe bills need. */
export interface BillingParts extends PlanParts {
  readonly stripe: PlanBilling;
  /** The plans of the configuration, as it is now. */
  readonly plans: () => readonly Plan[];
  readonly log: Log;
}

/** What a reading led to. `foreign` is of another program; of `orphan` no order is known here. */
export type SyncResult = "applied" | "foreign" | "orphan";

const ATTEMPTS_MAX = 5;
/** Stripe is asked once a day whatever events come, and for so many days after an end. */
const READ_AGAIN_MS = DAY_MS;
const READ_AFTER_END_MS = 60 * DAY_MS;
/** Until a subscription that has ended here is cancelled at Stripe once more. */
const CANCEL_AGAIN_MS = 60_000;

/**
 * Reads a subscription at Stripe and makes ours what it says: grants paid invoices, pauses, resumes, changes and ends.
 * Of two readers at once, the one that was overtaken reads again. Rejects with `payments_unavailable`.
 */
export async function syncBilled(
  parts: BillingParts,
  stripeId: string,
  cause: Cause = { actor: SYSTEM },
): Promise<SyncResult> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const before = await findOrderOf(parts.database, stripeId);
    const seen = (await parts.stripe.readBilled(stripeId)) ?? gone(before, parts.now());
    if (!seen) return "foreign";
    const orderId = before?.id ?? seen.orderId;
    if (orderId === undefined) return "foreign";
    const applied = await apply(parts, { orderId, reads: before?.reads, seen, cause });
    if (applied === "overtaken") continue;
    if (applied === "orphan") return "orphan";
    return finish(parts, stripeId, applied);
  }
  throw new GatewayError("conflict", { message: "The subscription is being read by others." });
}

/** A subscription that Stripe has no more, such as one of a test that was cleared, has ended. */
function gone(order: PlanOrderRow | undefined, nowMs: number): BilledSubscription | undefined {
  if (!order?.stripeId) return undefined;
  const { stripeId, id: orderId, endedAtMs } = order;
  const rest = { customerId: undefined, priceId: undefined, isEnding: false, isHeld: false, invoices: [] };
  return { stripeId, orderId, endedAtMs: endedAtMs ?? nowMs, ...rest };
}

/** Books what was decided, and ends at Stripe what has ended here. */
async function finish(parts: BillingParts, stripeId: string, applied: Applied): Promise<SyncResult> {
  const { subscription, isUnwanted } = applied;
  if (subscription) await alignLedger(parts, subscription.id);
  if (!isUnwanted) return "applied";
  await parts.stripe.cancelBilled(stripeId);
  parts.log.info({ subscription: subscription?.id, stripe: stripeId }, "subscription cancelled at Stripe");
  return syncBilled(parts, stripeId);
}

interface Reading {
  readonly orderId: string;
  /** How often the order was read when this reading began; `undefined` for a subscription that is new here. */
  readonly reads: number | undefined;
  readonly seen: BilledSubscription;
  readonly cause: Cause;
}

interface Applied {
  readonly subscription: Subscription | undefined;
  /** Whether it goes on at Stripe, and has ended here. */
  readonly isUnwanted: boolean;
}

async function apply(parts: BillingParts, reading: Reading): Promise<Applied | "overtaken" | "orphan"> {
  const { database, now } = parts;
  const { orderId, reads, seen, cause } = reading;
  return database.transact(async (tx) => {
    const found = await findOrder(database, orderId, tx);
    if (!found || !(await lockAccount(database, tx, found.accountId))) return "orphan";
    const order = await findOrder(database, orderId, tx);
    if (!order || (order.stripeId ?? seen.stripeId) !== seen.stripeId) return "orphan";
    if ((order.stripeId === null ? undefined : order.reads) !== reads) return "overtaken";
    const nowMs = now();
    const before = await lockOwn(database, tx, order);
    const other = await findLive(database, order.accountId, tx);
    const known = {
      accountId: order.accountId,
      createdBy: order.createdBy,
      terms: readTerms(order),
      subscription: before,
      invoiceIds: await findInvoiceIds(database, tx, orderId),
      hasOther: other !== undefined && other.id !== before?.id,
    };
    const moment = { nowMs, plans: parts.plans(), newId: platform.uuidV7(nowMs) };
    const settlement = settle(known, seen, moment);
    const subscription = await store(parts, tx, { order, before, settlement, cause, nowMs });
    await reportRefused(parts, tx, order, settlement);
    const isUnwanted = subscription?.state === "ended" && seen.endedAtMs === undefined;
    await storeReading(database, tx, { order, seen, settlement, isUnwanted, nowMs });
    return { subscription, isUnwanted };
  });
}

async function lockOwn(database: Database, tx: Db, { subscriptionId }: PlanOrderRow) {
  return subscriptionId === null ? undefined : lockSubscription(database, tx, subscriptionId);
}

interface Stored {
  readonly order: PlanOrderRow;
  readonly before: Subscription | undefined;
  readonly settlement: Settlement;
  readonly cause: Cause;
  readonly nowMs: number;
}

/** Stores the subscription with its credits and its audit entry. Nothing is written where nothing has changed. */
async function store(
  { database }: BillingParts,
  tx: Db,
  { order, before, settlement, cause, nowMs }: Stored,
): Promise<Subscription | undefined> {
  const { subscription, settled } = settlement;
  if (!subscription) return undefined;
  await insertInvoices(database, tx, order.id, settled);
  const isChanged = !before || !isSame(before, subscription);
  if (!isChanged && settled.length === 0) return subscription;
  const after = { ...subscription, version: subscription.version + 1 };
  const decision = { after, grants: settled.map(({ grant }) => grant) };
  if (before) await saveDecision(database, tx, decision);
  else await insertDecision(database, tx, decision);
  await recordSettled(database, tx, { before, after, cause, nowMs });
  return after;
}

/** Compares what is stored: how a plan is held in memory does not matter. */
function isSame(one: Subscription, other: Subscription): boolean {
  return JSON.stringify(rowOf(one)) === JSON.stringify(rowOf(other));
}

function rowOf(subscription: Subscription) {
  const { periodGrant, ...row } = writeSubscription(subscription);
  return Object.entries({ ...row, periodGrant: String(periodGrant) }).toSorted();
}

interface StoredReading extends Pick<Stored, "order" | "settlement" | "nowMs"> {
  readonly seen: BilledSubscription;
  readonly isUnwanted: boolean;
}

async function storeReading(
  { tables: { planOrders } }: Database,
  tx: Db,
  { order, seen, settlement, isUnwanted, nowMs }: StoredReading,
): Promise<void> {
  const { endedAtMs, stripeId, customerId } = seen;
  const isOver = endedAtMs !== undefined && endedAtMs + READ_AFTER_END_MS < nowMs;
  await tx
    .update(planOrders)
    .set({
      terms: printTerms(settlement.terms),
      stripeId,
      customerId: customerId ?? order.customerId,
      subscriptionId: settlement.subscription?.id ?? null,
      reads: order.reads + 1,
      nextReadAtMs: isOver ? null : nowMs + (isUnwanted ? CANCEL_AGAIN_MS : READ_AGAIN_MS),
      endedAtMs: endedAtMs ?? null,
    })
    .where(eq(planOrders.id, order.id));
}
