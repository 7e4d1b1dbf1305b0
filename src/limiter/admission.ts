import type { LimitWindow, LimitWindows } from "../domain/limit-windows.ts";
import type { Admission, Limits } from "./limiter.ts";
import type { Quantity } from "./window.ts";

/** Difference to add to the counts of an admission. */
export type Correction = Readonly<Record<Quantity, number>>;

/** Slots and window counts taken for one admitted request. */
export interface Reservation {
  readonly admitted: true;
  readonly state: LimitWindows;
  /** Tokens counted against the tokens per minute. */
  readonly tokens: number;
  /** Frees the slots and corrects the counts. Must be called at most once. */
  end(correction: Correction): Promise<void> | void;
}

/** Returns an admission that ends its reservation once, however often it is settled or cancelled. */
export function createAdmission({ state, tokens, end }: Reservation): Admission {
  let ended: Promise<void> | undefined;
  const endOnce = (correction: Correction) => {
    ended ??= Promise.resolve(end(correction));
    return ended;
  };
  return {
    admitted: true,
    state,
    settle: (used) => endOnce({ requests: 0, tokens: isTokenCount(used) ? Math.ceil(used) - tokens : 0 }),
    cancel: () => endOnce({ requests: -1, tokens: -tokens }),
  };
}

/**
 * Rounds up. Throws RangeError unless `tokens` is from 0 to 2^53 - 1: one NaN in a sum would disable the
 * limit.
 */
export function checkTokens(tokens: number): number {
  if (!isTokenCount(tokens)) throw new RangeError(`Cannot admit ${tokens} tokens: expected a count from 0`);
  return Math.ceil(tokens);
}

function isTokenCount(tokens: number): boolean {
  return tokens >= 0 && tokens <= Number.MAX_SAFE_INTEGER;
}

/** The counts of the last minute and the running requests, of a key or an account. */
export interface WindowSnapshot {
  readonly requests: number;
  readonly tokens: number;
  readonly running: number;
  /** Milliseconds until the window counts none of the quantity, if nothing else is admitted. */
  resetMs(of: Quantity): number;
}

/** Window snapshot of a key or account, with its current limits. */
export interface LimitedSnapshot {
  readonly snapshot: WindowSnapshot;
  readonly limits: Limits;
}

/** Returns the state of each per-minute limit: of the key or of the account, whichever has less remaining. */
export function limitStateOf(key: LimitedSnapshot, account: LimitedSnapshot): LimitWindows {
  return { requests: tighterState(key, account, "requests"), tokens: tighterState(key, account, "tokens") };
}

/** Returns the per-minute limit of a quantity; `undefined` is unlimited. */
export function limitOf(limits: Limits, of: Quantity): number | undefined {
  return of === "requests" ? limits.requestsPerMinute : limits.tokensPerMinute;
}

function tighterState(key: LimitedSnapshot, account: LimitedSnapshot, of: Quantity): LimitWindow | undefined {
  const keyRemaining = remainingOf(key, of);
  const accountRemaining = remainingOf(account, of);
  if (keyRemaining === undefined && accountRemaining === undefined) return undefined;
  const isKey =
    accountRemaining === undefined || (keyRemaining !== undefined && keyRemaining <= accountRemaining);
  const { snapshot, limits } = isKey ? key : account;
  return {
    limit: limitOf(limits, of) ?? 0,
    remaining: (isKey ? keyRemaining : accountRemaining) ?? 0,
    resetMs: snapshot.resetMs(of),
  };
}

function remainingOf({ snapshot, limits }: LimitedSnapshot, of: Quantity): number | undefined {
  const limit = limitOf(limits, of);
  if (limit === undefined) return undefined;
  return Math.max(limit - snapshot[of], 0);
}
