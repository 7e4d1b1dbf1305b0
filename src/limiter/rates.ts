import type { Limits } from "./limiter.ts";
import { type Window, waitMs } from "./window.ts";

/** One request of `tokens` at one time. */
interface RatedRequest {
  readonly tokens: number;
  readonly nowMs: number;
}

/** Returns the milliseconds until both per-minute limits admit the request; 0 when they admit it now. */
export function rateWait(
  window: Window,
  { requestsPerMinute, tokensPerMinute }: Limits,
  { tokens, nowMs }: RatedRequest,
): number {
  const requestsOver = excess(window.requests, 1, requestsPerMinute);
  const tokensOver = excess(window.tokens, tokens, tokensPerMinute);
  if (requestsOver <= 0 && tokensOver <= 0) return 0;
  return Math.max(
    waitMs(window, nowMs, { of: "requests", excess: requestsOver }),
    waitMs(window, nowMs, { of: "tokens", excess: tokensOver }),
  );
}

/** Returns by how much a limit would be exceeded. A limit of 0 admits nothing, not even zero tokens. */
function excess(used: number, wanted: number, limit: number | undefined): number {
  if (limit === undefined) return 0;
  return limit <= 0 ? Number.POSITIVE_INFINITY : used + wanted - limit;
}

/** Whether as many requests run as the limit admits. */
export function isFull(running: number, { concurrentRequests }: Limits): boolean {
  return concurrentRequests !== undefined && running >= concurrentRequests;
}

/**
 * Returns one gateway's share of each limit, rounded up: a limit above zero never becomes zero. The share of
 * the tokens per minute admits one call of `tokens` whenever the whole limit does.
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
