// What a subscription becomes, as pure functions: with time, and by a command. Previews and changes share them.
import { mostOf } from "../domain/money.ts";
import type { Plan } from "../domain/plan.ts";
import { GatewayError } from "../errors.ts";
import { isSamePlan } from "./plan-text.ts";
import {
  creditEndOf,
  type Grant,
  graceEndOf,
  nextAtMsOf,
  periodEndOf,
  periodStartOf,
  type Subscription,
} from "./subscription.ts";

/** A change of a subscription. Without `when`, a change of plan that is an upgrade is at once, another one is not. */
export type PlanCommand =
  | { readonly kind: "pause" }
  | { readonly kind: "resume" }
  | { readonly kind: "change"; readonly plan: Plan; readonly when?: When | undefined }
  | { readonly kind: "cancel"; readonly when: When };

/** At once, or when the running period ends. */
export type When = "now" | "period_end";

/** What a subscription becomes, and the credit that this grants. */
export interface Decision {
  readonly after: Subscription;
  readonly grants: readonly Grant[];
}

/** The most periods of one decision. After a longer standstill, the next pass goes on. */
const PERIODS_MAX = 100;

/**
 * Begins every period whose time has come, each with its credit, and ends a cancelled subscription. The number of the
 * next period is the only cursor: a clock that was set back begins none again.
 */
export function advance(subscription: Subscription, nowMs: number): Decision {
  if (subscription.stripeId !== undefined) return only(lapse(subscription, nowMs));
  let after = subscription;
  const grants: Grant[] = [];
  while (grants.length < PERIODS_MAX) {
    const atMs = nextAtMsOf(after);
    if (atMs === undefined || atMs > nowMs) break;
    if (after.isCancelling) {
      after = end(after, atMs);
      break;
    }
    const begun = beginPeriod(after, atMs, nowMs);
    after = begun.after;
    grants.push(...begun.grants);
  }
  return { after, grants };
}

/** Pauses a subscription at the end of its grace, when Stripe bills it and no payment came. */
function lapse(subscription: Subscription, nowMs: number): Subscription {
  const atMs = nextAtMsOf(subscription);
  if (atMs === undefined || atMs > nowMs) return subscription;
  return { ...subscription, state: "paused", pausedAtMs: atMs };
}

/**
 * Decides a command, after the periods that are due. Throws `conflict` where the state of the subscription forbids it,
 * with a sentence that says why.
 */
export function decide(subscription: Subscription, command: PlanCommand, nowMs: number): Decision {
  const present = advance(subscription, nowMs);
  const { after: before } = present;
  if (before.state === "ended") throw conflict("The subscription has ended.");
  if ((nextAtMsOf(before) ?? Number.POSITIVE_INFINITY) <= nowMs)
    throw conflict("Periods of a long standstill are being granted; repeat this in a minute.");
  const decided = apply(before, command, nowMs);
  return {
    after: { ...decided.after, version: subscription.version + 1 },
    grants: [...present.grants, ...decided.grants],
  };
}

function apply(before: Subscription, command: PlanCommand, nowMs: number): Decision {
  switch (command.kind) {
    case "pause":
      return pause(before, nowMs);
    case "resume":
      return before.stripeId === undefined ? resume(before, nowMs) : resumeBilled(before, nowMs);
    case "change":
      if (before.stripeId !== undefined) throw conflict(`Stripe bills it: ${CHANGED_THERE}`);
      return change(before, command, nowMs);
    case "cancel":
      return cancel(before, command.when, nowMs);
  }
}

function pause(before: Subscription, nowMs: number): Decision {
  if (before.state === "paused") throw conflict("The subscription is paused already.");
  return only({ ...before, state: "paused", pausedAtMs: nowMs });
}

/** Ends a pause, and takes a cancellation back. A period that the pause outlasted is followed by one from now on. */
function resume(before: Subscription, nowMs: number): Decision {
  if (before.state === "active" && !before.isCancelling) {
    throw conflict("The subscription is neither paused nor cancelled.");
  }
  const after: Subscription = { ...before, state: "active", pausedAtMs: undefined, isCancelling: false };
  return periodEndOf(after) <= nowMs ? beginPeriod(after, nowMs, nowMs) : only(after);
}

const CHANGED_THERE = "its plan is changed in the customer portal, or in the dashboard of Stripe.";

/** No period begins by a command: the next paid invoice begins it. */
function resumeBilled(before: Subscription, nowMs: number): Decision {
  if (before.state === "active" && !before.isCancelling) {
    throw conflict("The subscription is neither paused nor cancelled.");
  }
  const isPaid = graceEndOf(before) > nowMs;
  return only({
    ...before,
    state: isPaid ? "active" : "paused",
    pausedAtMs: isPaid ? undefined : before.pausedAtMs,
    isCancelling: false,
  });
}

function change(
  before: Subscription,
  { plan, when = defaultWhen(before, plan) }: { readonly plan: Plan; readonly when?: When | undefined },
  nowMs: number,
): Decision {
  if (before.isCancelling) throw conflict("The subscription is cancelled; resume it first.");
  const isSame = isSamePlan(before.plan, plan);
  if (isSame && !before.nextPlan) throw conflict("The subscription has this plan already.");
  if (when === "period_end") return only({ ...before, nextPlan: isSame ? undefined : plan });
  if (plan.period !== before.plan.period) {
    throw conflict("A plan with periods of another length begins when the running period ends.");
  }
  const after = { ...before, plan, nextPlan: undefined, periodGrant: mostOf(before.periodGrant, plan.grant) };
  return { after, grants: raise(before, after, nowMs) };
}

function defaultWhen(before: Subscription, plan: Plan): When {
  return plan.period === before.plan.period && plan.grant >= before.plan.grant ? "now" : "period_end";
}

/** The part of a higher credit that is left of the running period by time, rounded down to the nano. */
function raise(before: Subscription, after: Subscription, nowMs: number): readonly Grant[] {
  const period = before.nextPeriod - 1;
  const [startsAtMs, endsAtMs] = [periodStartOf(after, period), periodStartOf(after, period + 1)];
  const leftMs = Math.min(endsAtMs - nowMs, endsAtMs - startsAtMs);
  if (leftMs <= 0) return [];
  const more = after.periodGrant - before.periodGrant;
  const amount = (more * BigInt(leftMs)) / BigInt(endsAtMs - startsAtMs);
  if (amount <= 0n) return [];
  const id = `plan-${after.id}-${period}-raise-${before.version + 1}`;
  return [grantOf(after, { id, period, isRaise: true, amount, startsAtMs, decidedAtMs: nowMs })];
}

function cancel(before: Subscription, when: When, nowMs: number): Decision {
  if (when === "now" || periodEndOf(before) <= nowMs) return only(end(before, nowMs));
  if (before.isCancelling) throw conflict("The subscription is cancelled already.");
  return only({ ...before, isCancelling: true, nextPlan: undefined });
}

function end(before: Subscription, endedAtMs: number): Subscription {
  return { ...before, state: "ended", endedAtMs, nextPlan: undefined, isCancelling: false };
}

/** Begins the next period. Where it is not the one of the anchor, or is of another length, it is the new anchor. */
function beginPeriod(before: Subscription, startsAtMs: number, decidedAtMs: number): Decision {
  const { nextPeriod: period, nextPlan } = before;
  const plan = nextPlan ?? before.plan;
  const isAnchored = plan.period === before.plan.period && startsAtMs === periodEndOf(before);
  const after: Subscription = {
    ...before,
    plan,
    nextPlan: undefined,
    nextPeriod: period + 1,
    periodGrant: plan.grant,
    ...(isAnchored ? {} : { anchorMs: startsAtMs, anchorPeriod: period }),
  };
  const id = `plan-${after.id}-${period}`;
  const grant = grantOf(after, { id, period, isRaise: false, amount: plan.grant, startsAtMs, decidedAtMs });
  return { after, grants: [grant] };
}

type GrantFacts = Pick<Grant, "id" | "period" | "isRaise" | "amount" | "startsAtMs" | "decidedAtMs">;

function grantOf(after: Subscription, facts: GrantFacts): Grant {
  return {
    ...facts,
    subscriptionId: after.id,
    accountId: after.accountId,
    planId: after.plan.id,
    endsAtMs: periodStartOf(after, facts.period + 1),
    expiresAtMs: creditEndOf(after, facts),
    bookedAtMs: undefined,
  };
}

function only(after: Subscription): Decision {
  return { after, grants: [] };
}

function conflict(message: string): GatewayError {
  return new GatewayError("conflict", { message });
}
