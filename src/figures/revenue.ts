// Recurring revenue: the prices of active subscriptions, as of a month.
import type { Nanos } from "../domain/money.ts";
import type { PlanPeriod } from "../domain/plan-period.ts";
import type { Subscription } from "../plans/subscription.ts";

/** The subscriptions to one plan. */
export interface PlanRevenue {
  readonly planId: string;
  /** As the newest of its subscriptions has it. */
  readonly name: string;
  readonly active: number;
  readonly paused: number;
  /** Those that end with their running period, of the active ones. */
  readonly cancelling: number;
  /** The prices of the active ones, as of a month, rounded down to the nano once. */
  readonly monthly: Nanos;
}

/** A month of the mean year of the calendar, 365.2425 days, in millionths of a day. */
const MONTH_MICRODAYS = 30_436_875n;
const DAY_MICRODAYS = 1_000_000n;

/** Returns what prices of one period come to in a month: those of N days times 30.436875 / N. */
export function monthlyOf(prices: Nanos, period: PlanPeriod): Nanos {
  if (period === "month") return prices;
  return (prices * MONTH_MICRODAYS) / (BigInt(period.slice(0, -1)) * DAY_MICRODAYS);
}

/** Sums up the subscriptions that live by plan, the dearest first. A plan that is not sold brings nothing. */
export function revenueByPlan(live: readonly Subscription[]): readonly PlanRevenue[] {
  const byPlan = Map.groupBy(live, ({ plan }) => plan.id);
  return [...byPlan]
    .map(([planId, of]) => {
      const active = of.filter(({ state }) => state === "active");
      return {
        planId,
        name: of.at(-1)?.plan.name ?? planId,
        active: active.length,
        paused: of.length - active.length,
        cancelling: active.filter(({ isCancelling }) => isCancelling).length,
        monthly: sumMonthly(active),
      };
    })
    .toSorted((one, other) => compare(other.monthly, one.monthly) || (one.planId < other.planId ? -1 : 1));
}

function compare(one: Nanos, other: Nanos): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

/** Prices of one period are summed up before they are rounded. */
function sumMonthly(subscriptions: readonly Subscription[]): Nanos {
  const byPeriod = Map.groupBy(subscriptions, ({ plan }) => plan.period);
  return [...byPeriod].reduce((sum, [period, of]) => {
    const prices = of.reduce((total, { plan: { price = 0n } }) => total + price, 0n);
    return sum + monthlyOf(prices, period);
  }, 0n);
}

/**
 * The recurring revenue at a time, of the subscriptions that had begun and not ended then, at their present terms: what
 * they had been changed from is not kept. A paused one counts until its pause began.
 */
export function revenueAt(subscriptions: readonly Subscription[], atMs: number): Nanos {
  const lived = subscriptions.filter(
    ({ createdAtMs, endedAtMs = Number.POSITIVE_INFINITY, pausedAtMs = Number.POSITIVE_INFINITY }) =>
      createdAtMs <= atMs && endedAtMs > atMs && pausedAtMs > atMs,
  );
  const byPlan = Map.groupBy(lived, ({ plan }) => plan.id);
  return [...byPlan.values()].reduce((sum, of) => sum + sumMonthly(of), 0n);
}
