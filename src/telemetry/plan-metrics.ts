import { counter, type Family } from "./series.ts";

/** Counts what the plan job of this process does. */
export interface PlanMetrics {
  /** Periods have begun, each with its credit. */
  granted(periods: number): void;
  /** A step of one subscription or credit has failed; the next pass repeats it. */
  failed(): void;
}

export interface CountedPlans extends PlanMetrics {
  readonly families: readonly Family[];
}

export function countPlans(): CountedPlans {
  let periods = 0;
  let failures = 0;
  return {
    families: [
      counter("tollgate_plan_periods_total", "Periods of subscriptions that this process has begun.", () => [
        [{}, periods],
      ]),
      counter("tollgate_plan_failures_total", "Steps of the plan job of this process that failed.", () => [
        [{}, failures],
      ]),
    ],
    granted(more) {
      periods += more;
    },
    failed() {
      failures += 1;
    },
  };
}
