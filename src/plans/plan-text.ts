import { parseMarkup, parseUsd, printMarkup, printUsd } from "../domain/money.ts";
import type { LimitPeriod } from "../domain/period.ts";
import type { Plan } from "../domain/plan.ts";
import type { PlanPeriod } from "../domain/plan-period.ts";

/** A plan in JSON: as commands and the management API print it, and as a subscription keeps it. */
export interface PrintedPlan {
  readonly id: string;
  readonly name: string;
  /** "month", or days such as "30d". */
  readonly period: PlanPeriod;
  readonly grant_usd: string;
  readonly carry_over: number;
  readonly late_days: number;
  readonly spending_limits: readonly { readonly amount_usd: string; readonly period: LimitPeriod }[];
  /** Null for every model. */
  readonly models: readonly string[] | null;
  readonly markup: string | null;
  readonly price_usd: string | null;
  /** Null for a plan that only operators assign. */
  readonly sold_by: "stripe" | null;
  readonly stripe_price: string | null;
  readonly grace_days: number | null;
}

/** A plan that was kept before plans were sold lacks the members of its sale. */
type KeptPlan = Omit<PrintedPlan, "sold_by" | "stripe_price" | "grace_days"> & Partial<PrintedPlan>;

export function printPlan(plan: Plan): PrintedPlan {
  const { id, name, period, grant, carryOver, lateDays, limits, models, markup, price, sale } = plan;
  return {
    id,
    name,
    period,
    grant_usd: printUsd(grant),
    carry_over: carryOver,
    late_days: lateDays,
    spending_limits: limits.map((limit) => ({ amount_usd: printUsd(limit.amount), period: limit.period })),
    models: models ?? null,
    markup: markup === undefined ? null : printMarkup(markup),
    price_usd: price === undefined ? null : printUsd(price),
    sold_by: sale ? "stripe" : null,
    stripe_price: sale?.stripePrice ?? null,
    grace_days: sale?.graceDays ?? null,
  };
}

/** Reads the plan that a row of the database keeps. */
export function readPlan(kept: object): Plan {
  // Safe because printPlan is the only writer of the columns.
  const printed = kept as KeptPlan;
  const { id, name, period, models, markup, price_usd: price } = printed;
  return {
    id,
    name,
    period,
    grant: parseUsd(printed.grant_usd),
    carryOver: printed.carry_over,
    lateDays: printed.late_days,
    limits: printed.spending_limits.map((limit) => ({
      amount: parseUsd(limit.amount_usd),
      period: limit.period,
    })),
    models: models ?? undefined,
    markup: markup === null ? undefined : parseMarkup(markup),
    price: price === null ? undefined : parseUsd(price),
    ...readSale(printed),
  };
}

/** No member for a plan that is not sold, so that two plans of the same terms are equal. */
function readSale({ grace_days: graceDays, stripe_price: price }: KeptPlan): Pick<Plan, "sale"> {
  if (graceDays === null || graceDays === undefined) return {};
  return { sale: { graceDays, stripePrice: price ?? undefined } };
}

/** Whether two plans have the same terms. */
export function isSamePlan(one: Plan, other: Plan): boolean {
  return JSON.stringify(printPlan(one)) === JSON.stringify(printPlan(other));
}
