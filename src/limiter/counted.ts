import type { LimiterMetrics } from "../telemetry/metrics.ts";
import type { Limiter } from "./limiter.ts";

/** The same limiter, which tells the metrics what it decides. */
export function countDecisions(limiter: Limiter, metrics: Pick<LimiterMetrics, "decided">): Limiter {
  return {
    ...limiter,
    async admit(request) {
      const decision = await limiter.admit(request);
      metrics.decided("memory", decision.admitted ? "admitted" : decision.bound);
      return decision;
    },
  };
}
