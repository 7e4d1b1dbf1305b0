import type { Limits } from "./limiter.ts";

/**
 * The part of each limit for one of so many gateways, rounded up: who may do something may do it everywhere.
 * For the same reason a share has room for one call of so many `tokens`, when the whole limit has.
 */
export function shareOf(limits: Limits, gateways: number, tokens: number): Limits {
  const share = (limit: number | undefined) =>
    limit === undefined ? undefined : Math.ceil(limit / gateways);
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = limits;
  const tokensShare = share(tokensPerMinute);
  return {
    requestsPerMinute: share(requestsPerMinute),
    tokensPerMinute: tokensShare && Math.max(tokensShare, Math.min(tokensPerMinute ?? 0, tokens)),
    concurrentRequests: share(concurrentRequests),
  };
}
