import type { Limits } from "./limiter.ts";

/** The part of each limit for one of so many gateways, rounded up: who may do something may do it everywhere. */
export function shareOf(limits: Limits, gateways: number): Limits {
  const share = (limit: number | undefined) =>
    limit === undefined ? undefined : Math.ceil(limit / gateways);
  return {
    requestsPerMinute: share(limits.requestsPerMinute),
    tokensPerMinute: share(limits.tokensPerMinute),
    concurrentRequests: share(limits.concurrentRequests),
  };
}
