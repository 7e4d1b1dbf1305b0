import type { LimitedCaller } from "./callers.ts";
import type { LimitState, Limits, WindowState } from "./limiter.ts";
import { type Counted, resetMs } from "./window.ts";

/** A key or an account with the limits it has at the moment. */
export interface Bound {
  readonly caller: LimitedCaller;
  readonly limits: Limits;
}

/** What clients see: for each per-minute limit, the key's or the account's, whichever leaves less. */
export function limitStateOf(key: Bound, account: Bound, nowMs: number): LimitState {
  return {
    requests: tighterState([key, account], "requests", nowMs),
    tokens: tighterState([key, account], "tokens", nowMs),
  };
}

/** The limit on what is counted; `undefined` is no bound. */
export function limitOf(limits: Limits, of: Counted): number | undefined {
  return of === "requests" ? limits.requestsPerMinute : limits.tokensPerMinute;
}

function tighterState(bounds: readonly [Bound, Bound], of: Counted, nowMs: number): WindowState | undefined {
  const [key, account] = bounds;
  const keyLeft = remainingOf(key, of);
  const accountLeft = remainingOf(account, of);
  if (keyLeft === undefined && accountLeft === undefined) return undefined;
  const isKey = accountLeft === undefined || (keyLeft !== undefined && keyLeft <= accountLeft);
  const { caller, limits } = isKey ? key : account;
  return {
    limit: limitOf(limits, of) ?? 0,
    remaining: (isKey ? keyLeft : accountLeft) ?? 0,
    resetMs: resetMs(caller.window, nowMs, of),
  };
}

function remainingOf({ caller, limits }: Bound, of: Counted): number | undefined {
  const limit = limitOf(limits, of);
  if (limit === undefined) return undefined;
  const used = of === "requests" ? caller.window.requests : caller.window.tokens;
  return used < limit ? limit - used : 0;
}
