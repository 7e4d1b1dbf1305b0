import { parseUsd } from "../../src/domain/money.ts";
import type { Plan } from "../../src/domain/plan.ts";
import type { ReckonedPlan } from "../plans/reckoning.ts";
import { PRO } from "../plans/samples.ts";

/** The five plans of the year. */
export const PLANS: readonly Plan[] = [
  {
    ...{ ...PRO, id: "limited", grant: 0n },
    limits: [
      { amount: parseUsd("3"), period: "day" },
      { amount: parseUsd("20"), period: "month" },
    ],
  },
  { ...PRO, id: "pro", grant: parseUsd("20"), carryOver: 1 },
  { ...PRO, id: "thirty", period: "30d", grant: parseUsd("21.000000001"), lateDays: 3 },
  { ...PRO, id: "weekly", period: "7d", grant: parseUsd("6.123456789"), carryOver: 1 },
  { ...PRO, id: "dear", grant: parseUsd("499.99"), carryOver: 2 },
];

/** A plan as the reckoning knows it: its numbers, and the days of its limits in its subscription's zone. */
export interface YearPlan extends ReckonedPlan {
  readonly limits: readonly { readonly amount: bigint; readonly isMonth: boolean }[];
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
