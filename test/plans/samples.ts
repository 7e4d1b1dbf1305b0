import { parseUsd } from "../../src/domain/money.ts";
import type { Plan } from "../../src/domain/plan.ts";
import type { Subscription } from "../../src/plans/subscription.ts";

/** A plan of 20 USD a month that brings nothing else. */
export const PRO: Plan = {
  id: "pro",
  name: "Pro",
  period: "month",
  grant: parseUsd("20"),
  carryOver: 0,
  lateDays: 1,
  limits: [],
  models: undefined,
  markup: undefined,
  price: parseUsd("18"),
};

export const START = Date.UTC(2026, 0, 31, 10);

/** A subscription to {@link PRO} from 31 January on that has begun no period. */
export const DRAFT: Subscription = {
  id: "s",
  accountId: "a",
  state: "active",
  plan: PRO,
  nextPlan: undefined,
  timeZone: "UTC",
  anchorMs: START,
  anchorPeriod: 0,
  nextPeriod: 0,
  periodGrant: 0n,
  isCancelling: false,
  createdAtMs: START,
  createdBy: "operator",
  pausedAtMs: undefined,
  endedAtMs: undefined,
  version: 1,
  appliedVersion: 0,
};
