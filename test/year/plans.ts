import { parseUsd } from "../../src/domain/money.ts";
import type { Plan } from "../../src/domain/plan.ts";
import type { ReckonedPlan } from "../plans/reckoning.ts";
import { PRO } from "../plans/samples.ts";
import type { StripeSubscriptions } from "../support/stripe-subscriptions.ts";

/** The five plans of the year. Two of them are sold by Stripe; operators may assign those, too. */
export const PLANS: readonly Plan[] = [
  {
    ...{ ...PRO, id: "limited", grant: 0n },
    limits: [
      { amount: parseUsd("3"), period: "day" },
      { amount: parseUsd("20"), period: "month" },
    ],
  },
  {
    ...{ ...PRO, id: "pro", grant: parseUsd("20"), carryOver: 1 },
    sale: { graceDays: 3, stripePrice: "price_pro" },
  },
  { ...PRO, id: "thirty", period: "30d", grant: parseUsd("21.000000001"), lateDays: 3 },
  {
    ...{ ...PRO, id: "weekly", period: "7d", grant: parseUsd("6.123456789"), lateDays: 4 },
    ...{ price: parseUsd("5.49"), sale: { graceDays: 2, stripePrice: "price_weekly" } },
  },
  { ...PRO, id: "dear", grant: parseUsd("499.99"), carryOver: 2 },
];

/** A plan as the reckoning knows it: its numbers, and the days of its limits in its subscription's zone. */
export interface YearPlan extends ReckonedPlan {
  readonly limits: readonly { readonly amount: bigint; readonly isMonth: boolean }[];
}

/** A plan that Stripe sells. */
export interface SoldPlan extends YearPlan {
  readonly sale: { readonly priceId: string; readonly cents: bigint; readonly graceDays: number };
}

const RECKONED: ReadonlyMap<string, YearPlan> = new Map(
  PLANS.map(({ id, period, grant, carryOver, lateDays, limits }) => [
    id,
    {
      ...{ id, grant, carryOver, lateDays },
      days: period === "month" ? 0 : Number.parseInt(period, 10),
      limits: limits.map(({ amount, period: length }) => ({ amount, isMonth: length === "month" })),
    },
  ]),
);

const SALES = [
  { id: "pro", priceId: "price_pro", cents: 1_800n, graceDays: 3 },
  { id: "weekly", priceId: "price_weekly", cents: 549n, graceDays: 2 },
];

const SOLD: ReadonlyMap<string, SoldPlan> = new Map(
  SALES.map(({ id, ...sale }) => [sale.priceId, { ...reckonedPlan(id), sale }]),
);

export const PRICE_IDS: readonly string[] = [...SOLD.keys()];

export function planOf(id: string): Plan {
  const plan = PLANS.find((each) => each.id === id);
  if (!plan) throw new Error(`There is no plan ${id}`);
  return plan;
}

export function reckonedPlan(id: string): YearPlan {
  const plan = RECKONED.get(id);
  if (!plan) throw new Error(`There is no plan ${id}`);
  return plan;
}

/** The plan of a price at Stripe. */
export function planOfPrice(priceId: string): SoldPlan {
  const plan = SOLD.get(priceId);
  if (!plan) throw new Error(`No plan has the price ${priceId}`);
  return plan;
}

/** Makes the prices of the sold plans in Stripe's dashboard. */
export function makePrices({ prices }: StripeSubscriptions): void {
  for (const { days, sale } of SOLD.values()) {
    const interval = days > 0 ? "day" : "month";
    const recurring = { interval, interval_count: days > 0 ? days : 1 } as const;
    const price = { id: sale.priceId, object: "price", currency: "usd", recurring } as const;
    prices.set(sale.priceId, { ...price, unit_amount: Number(sale.cents) });
  }
}
