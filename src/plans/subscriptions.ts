import { eq, sql } from "drizzle-orm";
import { EditConflict, lockAccount } from "../accounts/accounts.ts";
import { type AuditActor, recordChange, SYSTEM } from "../accounts/audit-trail.ts";
import type { Database, DatabaseParts, Db } from "../db/database.ts";
import { printUsd } from "../domain/money.ts";
import { isTimeZone } from "../domain/period.ts";
import type { Plan } from "../domain/plan.ts";
import { GatewayError } from "../errors.ts";
import { platform } from "../platform.ts";
import { advance, type Decision, decide, type PlanCommand } from "./decide.ts";
import { findLive } from "./reads.ts";
import {
  type Grant,
  readSubscription,
  type Subscription,
  UNBEGUN,
  writeSubscription,
} from "./subscription.ts";

export interface NewSubscription {
  readonly accountId: string;
  readonly plan: Plan;
  /** The zone of its periods and limits, an IANA name. Default: UTC. */
  readonly timeZone?: string | undefined;
  /** Shown in the audit trail. */
  readonly reason?: string | undefined;
}

/** Returns what a new subscription would be and grant. Throws `wrong_shape` for a zone that is none. */
export function draftSubscription(
  { accountId, plan, timeZone = "UTC" }: NewSubscription,
  { id, createdBy, nowMs }: { readonly id: string; readonly createdBy: string; readonly nowMs: number },
): Decision {
  if (!isTimeZone(timeZone)) throw new GatewayError("wrong_shape", { path: "time_zone" });
  const draft: Subscription = {
    ...UNBEGUN,
    id,
    accountId,
    state: "active",
    plan,
    timeZone,
    anchorMs: nowMs,
    createdAtMs: nowMs,
    createdBy,
    endedAtMs: undefined,
    version: 1,
  };
  return advance(draft, nowMs);
}

/**
 * Subscribes an account to a plan from now on, with the credit of the first period. Rejects with `unknown_item` for an
 * unknown account, and with `conflict` where it has a subscription that has not ended.
 */
export async function addSubscription(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  wanted: NewSubscription,
): Promise<Subscription> {
  const nowMs = now();
  const decision = draftSubscription(wanted, { id: platform.uuidV7(nowMs), createdBy: actor.name, nowMs });
  const { accountId, plan, timeZone } = decision.after;
  await database.transact(async (tx) => {
    if (!(await lockAccount(database, tx, accountId))) throw new GatewayError("unknown_item");
    if (await findLive(database, accountId, tx)) {
      throw new GatewayError("conflict", { message: "The account has a subscription already." });
    }
    await insertDecision(database, tx, decision);
    const after = {
      plan: plan.id,
      grant_usd: printUsd(plan.grant),
      period: plan.period,
      time_zone: timeZone,
      reason: wanted.reason,
    };
    const change = { accountId, action: "subscription.created", target: decision.after.id, after };
    await recordChange(database, tx, actor, change, nowMs);
  });
  return decision.after;
}

/** Stores a new subscription like {@link saveDecision}. Its account must be locked. */
export async function insertDecision(database: Database, tx: Db, decision: Decision): Promise<void> {
  await tx.insert(database.tables.subscriptions).values(writeSubscription(decision.after));
  await saveGrants(database, tx, decision.grants);
  await bindAccount(database, tx, decision.after);
}

/** A command for one subscription. */
export interface SubscriptionChange {
  readonly subscriptionId: string;
  readonly command: PlanCommand;
  /** The version that its author has read. Default: any. */
  readonly version?: number | undefined;
  /** Shown in the audit trail. */
  readonly reason?: string | undefined;
}

/**
 * Changes a subscription, with its audit entry. Rejects with `unknown_item`, with {@link EditConflict} for an older
 * version, and with `conflict` where its state forbids the command.
 */
export async function changeSubscription(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  { subscriptionId, command, version, reason }: SubscriptionChange,
): Promise<Subscription> {
  return database.transact(async (tx) => {
    const before = await lockSubscription(database, tx, subscriptionId);
    if (!before) throw new GatewayError("unknown_item");
    if (version !== undefined && version !== before.version) throw new EditConflict(before);
    const nowMs = now();
    const decision = decide(before, command, nowMs);
    if (before.stripeId !== undefined && decision.after.state !== "ended") {
      const message =
        "Stripe bills the subscription: change it in the console, or in the dashboard of Stripe.";
      throw new GatewayError("conflict", { message });
    }
    await saveDecision(database, tx, decision);
    if (before.stripeId !== undefined) await wakeOrder(database, tx, subscriptionId, nowMs);
    const after = { ...describeSubscription(decision.after), reason };
    const { accountId } = decision.after;
    const change = {
      accountId,
      action: ACTIONS[command.kind],
      target: subscriptionId,
      before: describeSubscription(before),
      after,
    };
    await recordChange(database, tx, actor, change, nowMs);
    return decision.after;
  });
}

const ACTIONS: Readonly<Record<PlanCommand["kind"], string>> = {
  pause: "subscription.paused",
  resume: "subscription.resumed",
  change: "subscription.changed",
  cancel: "subscription.cancelled",
};

/** What the audit trail shows of a subscription: no markup, which only operators see. */
export function describeSubscription({ plan, nextPlan, state, isCancelling }: Subscription): object {
  return {
    plan: plan.id,
    grant_usd: printUsd(plan.grant),
    ...(nextPlan && { next_plan: nextPlan.id }),
    state,
    ...(isCancelling && { ends: "period_end" }),
  };
}

/**
 * Begins the periods of a subscription that are due, or ends it where it is cancelled. Returns how many periods began.
 * Two processes at once begin each period once, because the row is locked.
 */
export async function advanceSubscription(
  { database, now }: DatabaseParts,
  subscriptionId: string,
): Promise<number> {
  return database.transact(async (tx) => {
    const before = await lockSubscription(database, tx, subscriptionId);
    if (!before) return 0;
    const nowMs = now();
    const { after, grants } = advance(before, nowMs);
    if (after === before) return 0;
    const isBound = after.plan === before.plan && after.state === before.state;
    await saveDecision(database, tx, {
      after: { ...after, version: before.version + (isBound ? 0 : 1) },
      grants,
    });
    if (!isBound) {
      const { accountId, id: target } = after;
      const action = after.state === before.state ? "subscription.changed" : `subscription.${after.state}`;
      const change = {
        accountId,
        action,
        target,
        before: describeSubscription(before),
        after: describeSubscription(after),
      };
      await recordChange(database, tx, SYSTEM, change, nowMs);
    }
    return grants.length;
  });
}

/** What has ended here must end at Stripe: the order is looked at next. */
async function wakeOrder(
  { tables: { planOrders } }: Database,
  tx: Db,
  subscriptionId: string,
  nextReadAtMs: number,
): Promise<void> {
  await tx.update(planOrders).set({ nextReadAtMs }).where(eq(planOrders.subscriptionId, subscriptionId));
}

/** Stores what a subscription has become, its new credits, and what binds its account. */
export async function saveDecision(database: Database, tx: Db, { after, grants }: Decision): Promise<void> {
  const { subscriptions } = database.tables;
  await tx.update(subscriptions).set(writeSubscription(after)).where(eq(subscriptions.id, after.id));
  await saveGrants(database, tx, grants);
  await bindAccount(database, tx, after);
}

/** A grant is decided with its amount and its end before the ledger hears of it: a repeated top-up has the same ones. */
async function saveGrants({ tables }: Database, tx: Db, grants: readonly Grant[]): Promise<void> {
  if (grants.length === 0) return;
  await tx.insert(tables.planGrants).values(grants.map((grant) => ({ ...grant, bookedAtMs: null })));
}

/**
 * Gives an account the models and the markup of its plan, or takes them with the end of the subscription. The price is
 * that of the models while the plan is not paid: its models and limits stay, so that a pause widens nothing.
 */
async function bindAccount(
  { tables: { accounts } }: Database,
  tx: Db,
  { accountId, state, plan, stripeId }: Subscription,
): Promise<void> {
  const { models, markup } = state === "ended" ? {} : plan;
  const planModels = models ?? null;
  const isUnpaid = stripeId !== undefined && state === "paused";
  const planMarkup = markup === undefined || isUnpaid ? null : Number(markup);
  await tx.update(accounts).set({ planModels, planMarkup }).where(eq(accounts.id, accountId));
}

/** Locks a subscription until the transaction ends, so that its changes follow each other. */
export async function lockSubscription(
  { tables: { subscriptions } }: Database,
  tx: Db,
  id: string,
): Promise<Subscription | undefined> {
  const [row] = await tx
    .update(subscriptions)
    .set({ version: sql`${subscriptions.version}` })
    .where(eq(subscriptions.id, id))
    .returning();
  return row && readSubscription(row);
}
