// What a subscription becomes by what Stripe says of it, as one pure function, whatever events came before it.
import type { Nanos } from "../../domain/money.ts";
import type { Plan } from "../../domain/plan.ts";
import { planPeriodStart } from "../../domain/plan-period.ts";
import type { BilledSubscription, PaidInvoice } from "../../payments/stripe-billing-shapes.ts";
import { CURRENCY } from "../../payments/stripe-library.ts";
import { isSamePlan } from "../plan-text.ts";
import { type Grant, graceEndOf, lateEndOf, type Subscription, UNBEGUN } from "../subscription.ts";

/** The plan that a price at Stripe stands for; without a price, that of the order until its first invoice is paid. */
export interface Term {
  readonly priceId: string | undefined;
  readonly plan: Plan;
}

/** What is stored of an order, and what its account has. */
export interface KnownOrder {
  readonly accountId: string;
  readonly createdBy: string;
  readonly terms: readonly Term[];
  /** From the first paid invoice on. */
  readonly subscription: Subscription | undefined;
  /** The invoices that were granted. */
  readonly invoiceIds: ReadonlySet<string>;
  /** Whether the account has another subscription: this one then ends with its beginning. */
  readonly hasOther: boolean;
}

interface Moment {
  readonly nowMs: number;
  /** The plans of the configuration: a price that is new to the order may be of one of them. */
  readonly plans: readonly Plan[];
  /** The id of a new subscription. */
  readonly newId: string;
}

/** A paid invoice with the credit that it grants. */
export interface SettledInvoice {
  readonly invoice: PaidInvoice;
  readonly grant: Grant;
}

export interface Settlement {
  readonly terms: readonly Term[];
  readonly subscription: Subscription | undefined;
  readonly settled: readonly SettledInvoice[];
  /** Paid invoices that grant nothing: of a price without a plan, or in another currency. */
  readonly refused: readonly PaidInvoice[];
}

/** Decides what a reading of Stripe changes. The same reading changes nothing twice. */
export function settle(known: KnownOrder, seen: BilledSubscription, moment: Moment): Settlement {
  // Invoices of one second are in the order of Stripe's list, which has the newest first.
  const invoices = seen.invoices.toReversed().toSorted((one, other) => one.createdAtMs - other.createdAtMs);
  const terms = bindTerms(known.terms, seen, moment.plans);
  const paid = invoices.flatMap((invoice) => {
    const plan = invoice.currency === CURRENCY ? planOf(terms, invoice.priceId) : undefined;
    return plan ? [{ invoice, plan }] : [];
  });
  const isPaid = new Set(paid.map(({ invoice }) => invoice.id));
  const refused = invoices.filter(({ id }) => !isPaid.has(id));
  let subscription = known.subscription ?? begin(known, seen, paid[0], moment);
  if (!subscription) return { terms, subscription, settled: [], refused };
  const settled: SettledInvoice[] = [];
  for (const each of paid) {
    if (known.invoiceIds.has(each.invoice.id)) continue;
    const grant = grantOf(subscription, each, moment.nowMs);
    settled.push({ invoice: each.invoice, grant });
    if (!grant.isRaise) subscription = { ...subscription, nextPeriod: grant.period + 1 };
  }
  subscription = stateOf(followPaid(subscription, paid), seen, terms, moment.nowMs);
  return { terms, subscription, settled, refused };
}

/**
 * A price keeps the plan that it stood for when it was first seen: no change of the file reaches it. The price of an
 * order without one is that of its first invoice.
 */
function bindTerms(
  terms: readonly Term[],
  { priceId, invoices }: BilledSubscription,
  plans: readonly Plan[],
): readonly Term[] {
  const first = invoices.find(({ isFirst }) => isFirst)?.priceId;
  const bound = terms.map((term) => (term.priceId === undefined ? { ...term, priceId: first } : term));
  const seen = new Set([priceId, ...invoices.map((invoice) => invoice.priceId)]);
  for (const id of seen) {
    if (id === undefined || planOf(bound, id)) continue;
    const plan = plans.find(({ sale }) => sale?.stripePrice === id);
    if (plan) bound.push({ priceId: id, plan });
  }
  return bound;
}

function planOf(terms: readonly Term[], priceId: string | undefined): Plan | undefined {
  return priceId === undefined ? undefined : terms.find((term) => term.priceId === priceId)?.plan;
}

interface Paid {
  readonly invoice: PaidInvoice;
  readonly plan: Plan;
}

/** A subscription begins with its first paid invoice. */
function begin(
  { accountId, createdBy, hasOther }: KnownOrder,
  { stripeId }: BilledSubscription,
  first: Paid | undefined,
  { nowMs, newId }: Moment,
): Subscription | undefined {
  if (!first) return undefined;
  return {
    ...UNBEGUN,
    id: newId,
    accountId,
    state: hasOther ? "ended" : "active",
    plan: first.plan,
    timeZone: "UTC",
    anchorMs: first.invoice.startsAtMs,
    createdAtMs: nowMs,
    createdBy,
    endedAtMs: hasOther ? nowMs : undefined,
    version: 0,
    stripeId,
    paidUntilMs: first.invoice.endsAtMs,
  };
}

/** The credit of an invoice: the part of the plan's that was paid, so that no more is granted than was sold. */
function grantOf(subscription: Subscription, { invoice, plan }: Paid, nowMs: number): Grant {
  const { id, accountId, nextPeriod, timeZone } = subscription;
  const { startsAtMs, endsAtMs, isChange } = invoice;
  const endMs = planPeriodStart({ atMs: endsAtMs, timeZone, period: plan.period }, plan.carryOver);
  const isRaise = isChange && nextPeriod > 0;
  return {
    id: `plan-${id}-${invoice.id}`,
    subscriptionId: id,
    accountId,
    period: isRaise ? nextPeriod - 1 : nextPeriod,
    isRaise,
    planId: plan.id,
    amount: shareOf(plan, invoice.net),
    startsAtMs,
    endsAtMs,
    expiresAtMs: lateEndOf(plan, { startsAtMs, decidedAtMs: nowMs, endMs }),
    decidedAtMs: nowMs,
    bookedAtMs: undefined,
  };
}

/** Rounded down to the nano; never above the credit of a whole period. */
function shareOf({ grant, price = 0n }: Plan, net: Nanos): Nanos {
  if (price <= 0n || net <= 0n) return 0n;
  return net >= price ? grant : (grant * net) / price;
}

/** The plan and the period of the latest paid invoice, whichever came last. */
function followPaid(subscription: Subscription, paid: readonly Paid[]): Subscription {
  const latest = paid.toSorted((one, other) => one.invoice.startsAtMs - other.invoice.startsAtMs).at(-1);
  if (!latest) return subscription;
  const whole = paid.filter(({ invoice }) => !invoice.isChange);
  const anchorMs = Math.max(...(whole.length > 0 ? whole : paid).map(({ invoice }) => invoice.startsAtMs));
  const plan = isSamePlan(subscription.plan, latest.plan) ? subscription.plan : latest.plan;
  return {
    ...subscription,
    plan,
    anchorMs,
    anchorPeriod: Math.max(0, subscription.nextPeriod - 1),
    periodGrant: plan.grant,
    paidUntilMs: Math.max(...paid.map(({ invoice }) => invoice.endsAtMs)),
  };
}

/** Ended as Stripe says, paused while payments are held there or the grace is over, active otherwise. */
function stateOf(
  subscription: Subscription,
  seen: BilledSubscription,
  terms: readonly Term[],
  nowMs: number,
): Subscription {
  if (subscription.state === "ended") return subscription;
  const { endedAtMs, isHeld, isEnding } = seen;
  const rest = { ...subscription, nextPlan: undefined, isCancelling: false };
  if (endedAtMs !== undefined) return { ...rest, state: "ended", endedAtMs, pausedAtMs: undefined };
  const graceEndMs = graceEndOf(subscription);
  const isPaused = isHeld || graceEndMs <= nowMs;
  const next = isEnding ? undefined : planOf(terms, seen.priceId);
  return {
    ...rest,
    state: isPaused ? "paused" : "active",
    pausedAtMs: isPaused ? (subscription.pausedAtMs ?? Math.min(nowMs, graceEndMs)) : undefined,
    nextPlan: next && !isSamePlan(next, subscription.plan) ? next : undefined,
    isCancelling: isEnding,
  };
}
