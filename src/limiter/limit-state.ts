import type { LimitState, Limits, WindowState } from "./limiter.ts";
import type { Quantity } from "./window.ts";

/** What a caller was admitted for in the last minute, and what it has running. */
export interface WindowSnapshot {
  readonly requests: number;
  readonly tokens: number;
  readonly running: number;
  /** Milliseconds until nothing of it is counted any more. */
  resetMs(of: Quantity): number;
}

/** A key or an account with the limits it has at the moment. */
export interface LimitedSnapshot {
  readonly standing: WindowSnapshot;
  readonly limits: Limits;
}

/** What clients see: for each per-minute limit, the key's or the account's, whichever leaves less. */
export function limitStateOf(key: LimitedSnapshot, account: LimitedSnapshot): LimitState {
  return { requests: tighterState(key, account, "requests"), tokens: tighterState(key, account, "tokens") };
}

/** The limit on what is counted; `undefined` is no bound. */
export function limitOf(limits: Limits, of: Quantity): number | undefined {
  return of === "requests" ? limits.requestsPerMinute : limits.tokensPerMinute;
}

function tighterState(key: LimitedSnapshot, account: LimitedSnapshot, of: Quantity): WindowState | undefined {
  const keyLeft = remainingOf(key, of);
  const accountLeft = remainingOf(account, of);
  if (keyLeft === undefined && accountLeft === undefined) return undefined;
  const isKey = accountLeft === undefined || (keyLeft !== undefined && keyLeft <= accountLeft);
  const { standing, limits } = isKey ? key : account;
  return {
    limit: limitOf(limits, of) ?? 0,
    remaining: (isKey ? keyLeft : accountLeft) ?? 0,
    resetMs: standing.resetMs(of),
  };
}

function remainingOf({ standing, limits }: LimitedSnapshot, of: Quantity): number | undefined {
  const limit = limitOf(limits, of);
  if (limit === undefined) return undefined;
  return Math.max(limit - standing[of], 0);
}
