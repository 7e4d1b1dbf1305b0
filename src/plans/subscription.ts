import type { Tables } from "../db/database.ts";
import { DAY_MS } from "../domain/id-time.ts";
import type { Nanos } from "../domain/money.ts";
import type { Plan } from "../domain/plan.ts";
import { planPeriodStart } from "../domain/plan-period.ts";
import { printPlan, readPlan } from "./plan-text.ts";

/** An account's subscription to a plan, with the terms that it was made with. */
export interface Subscription {
  readonly id: string;
  readonly accountId: string;
  /** A paused subscription begins no period. */
  readonly state: "active" | "paused" | "ended";
  /** The plan as it was when it was chosen: changes of the file do not reach it. */
  readonly plan: Plan;
  /** The plan that follows with the next period; `undefined` for the same one. */
  readonly nextPlan: Plan | undefined;
  /** The zone of its periods and limits, an IANA name. */
  readonly timeZone: string;
  /** Where the period `anchorPeriod` began: later ones are counted from here. */
  readonly anchorMs: number;
  readonly anchorPeriod: number;
  /** The number of the first period that is not granted, from 0. It never decreases. */
  readonly nextPeriod: number;
  /** The highest grant of the latest period, as of a whole period: a raise is the difference to it. */
  readonly periodGrant: Nanos;
  /** Whether it ends with the running period. */
  readonly isCancelling: boolean;
  readonly createdAtMs: number;
  /** Name of the author. */
  readonly createdBy: string;
  readonly pausedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
  /** From 1; increases with each change. */
  readonly version: number;
  /** The version whose spending limits the ledger has. */
  readonly appliedVersion: number;
  /** The subscription at Stripe that pays for it; `undefined` for one that an operator has assigned. */
  readonly stripeId?: string | undefined;
  /** The end of the latest period that was paid at Stripe. */
  readonly paidUntilMs?: number | undefined;
}

/** What a subscription has before its first period. */
export const UNBEGUN = {
  nextPlan: undefined,
  anchorPeriod: 0,
  nextPeriod: 0,
  periodGrant: 0n,
  isCancelling: false,
  pausedAtMs: undefined,
  appliedVersion: 0,
} satisfies Partial<Subscription>;

/** The credit of one period, or a raise of it. */
export interface Grant {
  /** That of the top-up, which the ledger books once. */
  readonly id: string;
  readonly subscriptionId: string;
  readonly accountId: string;
  readonly period: number;
  /** Whether it raises the credit of a running period to that of another plan. */
  readonly isRaise: boolean;
  readonly planId: string;
  readonly amount: Nanos;
  /** The period. */
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  /** The end of the credit, with its carry-over. */
  readonly expiresAtMs: number;
  readonly decidedAtMs: number;
  /** `undefined` until the ledger has taken it. */
  readonly bookedAtMs: number | undefined;
}

/** Returns when a period begins, in Unix milliseconds, as long as neither plan nor anchor change before it. */
export function periodStartOf(subscription: Subscription, period: number): number {
  const { anchorMs: atMs, anchorPeriod, timeZone, plan } = subscription;
  return planPeriodStart({ atMs, timeZone, period: plan.period }, period - anchorPeriod);
}

/** Returns the end of the latest period that began: that of the running one, unless a pause outlasted it. */
export function periodEndOf(subscription: Subscription): number {
  return subscription.paidUntilMs ?? periodStartOf(subscription, subscription.nextPeriod);
}

/**
 * Returns when a subscription begins a period or ends by itself, or is paused because Stripe bills it and no payment
 * came; `undefined` while it does none of these.
 */
export function nextAtMsOf(subscription: Subscription): number | undefined {
  const { state, isCancelling, stripeId } = subscription;
  if (stripeId !== undefined) return state === "active" ? graceEndOf(subscription) : undefined;
  const isWaiting = state === "active" || (state === "paused" && isCancelling);
  return isWaiting ? periodEndOf(subscription) : undefined;
}

/** Returns when the next period begins, as far as it is known; `undefined` where none follows. */
export function nextPeriodAtMsOf(subscription: Subscription): number | undefined {
  const { state, isCancelling, stripeId } = subscription;
  if (isCancelling) return undefined;
  if (stripeId === undefined) return nextAtMsOf(subscription);
  return state === "active" ? periodEndOf(subscription) : undefined;
}

const GRACE_DAYS = 3;

/** Returns until when a subscription that Stripe bills goes on without a payment. */
export function graceEndOf(subscription: Subscription): number {
  const { graceDays = GRACE_DAYS } = subscription.plan.sale ?? {};
  return periodEndOf(subscription) + graceDays * DAY_MS;
}

/** A credit that is decided so long after its period began is late. */
const LATE_MS = 3_600_000;

/**
 * Returns the end of a period's credit: that of the period, and of those that it carries over. A late credit lasts at
 * least the days that the plan says, so that a period that was over meanwhile can be spent still. No raise is late.
 */
export function creditEndOf(
  subscription: Subscription,
  {
    period,
    startsAtMs,
    decidedAtMs,
    isRaise,
  }: Pick<Grant, "period" | "startsAtMs" | "decidedAtMs" | "isRaise">,
): number {
  const { plan } = subscription;
  const endMs = periodStartOf(subscription, period + 1 + plan.carryOver);
  return isRaise ? endMs : lateEndOf(plan, { startsAtMs, decidedAtMs, endMs });
}

/** Returns the end of a credit, later where it is granted late. */
export function lateEndOf(
  { lateDays }: Plan,
  { startsAtMs, decidedAtMs, endMs }: Pick<Grant, "startsAtMs" | "decidedAtMs"> & { readonly endMs: number },
): number {
  return decidedAtMs - startsAtMs > LATE_MS ? Math.max(endMs, decidedAtMs + lateDays * DAY_MS) : endMs;
}

export type SubscriptionRow = Tables["subscriptions"]["$inferSelect"];

/** Converts a row to a subscription. */
export function readSubscription({ nextAtMs: _, ...row }: SubscriptionRow): Subscription {
  return {
    ...row,
    plan: readPlan(row.plan),
    nextPlan: row.nextPlan ? readPlan(row.nextPlan) : undefined,
    pausedAtMs: row.pausedAtMs ?? undefined,
    endedAtMs: row.endedAtMs ?? undefined,
    stripeId: row.stripeId ?? undefined,
    paidUntilMs: row.paidUntilMs ?? undefined,
  };
}

/** Converts a subscription to its row. */
export function writeSubscription(subscription: Subscription): SubscriptionRow {
  const { plan, nextPlan, pausedAtMs = null, endedAtMs = null } = subscription;
  const { stripeId = null, paidUntilMs = null } = subscription;
  return {
    ...subscription,
    plan: printPlan(plan),
    nextPlan: nextPlan ? printPlan(nextPlan) : null,
    nextAtMs: nextAtMsOf(subscription) ?? null,
    pausedAtMs,
    endedAtMs,
    stripeId,
    paidUntilMs,
  };
}

/** Converts a row to a grant. */
export function readGrant(row: Tables["planGrants"]["$inferSelect"]): Grant {
  return { ...row, bookedAtMs: row.bookedAtMs ?? undefined };
}
