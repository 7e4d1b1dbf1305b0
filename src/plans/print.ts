import { printTime } from "../domain/id-time.ts";
import { printUsd } from "../domain/money.ts";
import { printPlan } from "./plan-text.ts";
import type { Preview } from "./preview.ts";
import {
  type Grant,
  graceEndOf,
  nextPeriodAtMsOf,
  periodEndOf,
  periodStartOf,
  type Subscription,
} from "./subscription.ts";

/** Converts a subscription to JSON. Only operators see the markup of its plans. */
export function printSubscription(subscription: Subscription) {
  const { id, accountId, state, plan, nextPlan, timeZone, nextPeriod, isCancelling, stripeId } = subscription;
  const next = nextPeriodAtMsOf(subscription);
  return {
    id,
    account_id: accountId,
    state,
    plan: printPlan(plan),
    next_plan: nextPlan ? printPlan(nextPlan) : null,
    time_zone: timeZone,
    period: nextPeriod - 1,
    period_starts_at: printTime(periodStartOf(subscription, nextPeriod - 1)),
    period_ends_at: printTime(periodEndOf(subscription)),
    next_period_at: printTime(next ?? null),
    ends_at: isCancelling ? printTime(periodEndOf(subscription)) : null,
    created_at: printTime(subscription.createdAtMs),
    created_by: subscription.createdBy,
    paused_at: printTime(subscription.pausedAtMs ?? null),
    ended_at: printTime(subscription.endedAtMs ?? null),
    version: subscription.version,
    billed_by: stripeId === undefined ? null : ("stripe" as const),
    grace_ends_at: stripeId === undefined ? null : printTime(graceEndOf(subscription)),
  };
}

/** Converts a credit of a subscription to JSON. */
export function printGrant(grant: Grant) {
  return {
    id: grant.id,
    period: grant.period,
    kind: grant.isRaise ? ("raise" as const) : ("period" as const),
    plan: grant.planId,
    amount_usd: printUsd(grant.amount),
    starts_at: printTime(grant.startsAtMs),
    ends_at: printTime(grant.endsAtMs),
    expires_at: printTime(grant.expiresAtMs),
    granted_at: printTime(grant.decidedAtMs),
    booked_at: printTime(grant.bookedAtMs ?? null),
  };
}

/** Converts a preview to JSON. */
export function printPreview({ after, grants, nextPeriodAtMs, nextGrant, endsAtMs, sentences }: Preview) {
  return {
    state: after.state,
    plan: after.plan.id,
    next_plan: after.nextPlan?.id ?? null,
    grants: grants.map(({ period, isRaise, amount, expiresAtMs }) => ({
      period,
      kind: isRaise ? ("raise" as const) : ("period" as const),
      amount_usd: printUsd(amount),
      expires_at: printTime(expiresAtMs),
    })),
    next_period_at: printTime(nextPeriodAtMs ?? null),
    next_grant_usd: nextGrant === undefined ? null : printUsd(nextGrant),
    ends_at: printTime(endsAtMs ?? null),
    sentences: [...sentences],
  };
}
