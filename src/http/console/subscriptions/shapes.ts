// The schemas of plans and subscriptions, and what fills them.
import { type Static, t } from "elysia";
import { type PrintedPlan, printPlan } from "../../../plans/plan-text.ts";
import { printSubscription } from "../../../plans/print.ts";
import { SUBSCRIPTION_ORDERS } from "../../../plans/reads.ts";
import type { Subscription } from "../../../plans/subscription.ts";
import { period } from "../keys/shapes.ts";
import { id, listQuery, oneOf, time, usd } from "../shapes.ts";

export const planShape = t.Object({
  id: t.String(),
  name: t.String(),
  period: t.String({ description: 'month, or days such as "30d"' }),
  grant_usd: usd,
  carry_over: t.Integer({ description: "Periods after its own in which a credit may still be spent" }),
  late_days: t.Integer(),
  spending_limits: t.Array(t.Object({ amount_usd: usd, period })),
  models: t.Nullable(t.Array(t.String())),
  markup: t.Nullable(t.String({ description: "Shown to operators alone" })),
  price_usd: t.Nullable(usd),
  sold_by: t.Nullable(t.Literal("stripe")),
  stripe_price: t.Nullable(t.String()),
  grace_days: t.Nullable(t.Integer()),
});
const state = oneOf(["active", "paused", "ended"]);
export const subscriptionShape = t.Object({
  id,
  account_id: id,
  state,
  plan: planShape,
  next_plan: t.Nullable(planShape),
  time_zone: t.String(),
  period: t.Integer({ description: "The number of the latest period, from 0" }),
  period_starts_at: time,
  period_ends_at: time,
  next_period_at: t.Nullable(time),
  ends_at: t.Nullable(time),
  created_at: time,
  created_by: t.String(),
  paused_at: t.Nullable(time),
  ended_at: t.Nullable(time),
  version: t.Integer(),
  billed_by: t.Nullable(t.Literal("stripe", { description: "Null: an operator has assigned it" })),
  grace_ends_at: t.Nullable(time),
});
const kind = oneOf(["period", "raise"]);
const grantShape = t.Object({
  id: t.String({ description: "That of the top-up" }),
  period: t.Integer(),
  kind,
  plan: t.String(),
  amount_usd: usd,
  starts_at: time,
  ends_at: time,
  expires_at: time,
  granted_at: time,
  booked_at: t.Nullable(time),
});
export const withGrants = t.Composite([subscriptionShape, t.Object({ grants: t.Array(grantShape) })]);
/** A subscription as the members of its account see it. */
export const ownSubscription = t.Composite([
  withGrants,
  t.Object({
    period_spent_usd: t.String({ description: "charges less refunds since the running period began" }),
    period_granted_usd: t.String({ description: "the credit of the running period, with raises" }),
  }),
]);
export const previewShape = t.Object({
  state,
  plan: t.String(),
  next_plan: t.Nullable(t.String()),
  grants: t.Array(t.Object({ period: t.Integer(), kind, amount_usd: usd, expires_at: time })),
  next_period_at: t.Nullable(time),
  next_grant_usd: t.Nullable(usd),
  ends_at: t.Nullable(time),
  sentences: t.Array(t.String()),
});

export const planId = t.String({ minLength: 1, maxLength: 64 });
export const newSubscription = t.Object({
  plan: planId,
  time_zone: t.Optional(t.String({ minLength: 1, maxLength: 64 })),
});
const when = oneOf(["now", "period_end"]);
export const wantedCommand = t.Object({
  action: oneOf(["pause", "resume", "change", "cancel"]),
  plan: t.Optional(planId),
  when: t.Optional(when),
});
export const subscriptionsQuery = t.Composite([
  listQuery(...SUBSCRIPTION_ORDERS),
  t.Object({
    account: t.Optional(id),
    live: t.Optional(t.Boolean({ description: "Without ended ones" })),
    state: t.Optional(state),
  }),
]);
export const path = t.Object({ id });

export type SubscriptionShape = Static<typeof subscriptionShape>;
type PlanShape = Static<typeof planShape>;

/** The lists of a printed plan are read-only, those of an answer are not. */
export function shapePlan(plan: Parameters<typeof printPlan>[0]): PlanShape {
  return copyPlan(printPlan(plan));
}

export function shapeSubscription(subscription: Subscription): SubscriptionShape {
  const { plan, next_plan: next, ...shown } = printSubscription(subscription);
  return { ...shown, plan: copyPlan(plan), next_plan: next && copyPlan(next) };
}

/** Members of an account never see markups. */
export function withoutMarkup(shown: Static<typeof withGrants>): Static<typeof withGrants> {
  const hide = (plan: PlanShape) => ({ ...plan, markup: null, stripe_price: null });
  return { ...shown, plan: hide(shown.plan), next_plan: shown.next_plan && hide(shown.next_plan) };
}

function copyPlan(printed: PrintedPlan): PlanShape {
  const { models, spending_limits: limits } = printed;
  return { ...printed, models: models && [...models], spending_limits: [...limits] };
}
