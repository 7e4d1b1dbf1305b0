import type { LimitWindow, LimitWindows } from "../domain/limit-windows.ts";
import type { Admission, Limits } from "./limiter.ts";
import type { Quantity } from "./window.ts";

/** Difference to add to the counts of an admission. */
export type Correction = Readonly<Record<Quantity, number>>;

/** Slots and window counts taken for one admitted request. */
export interface Taken {
  /** Frees the slots and corrects the counts. Must be called at most once. */
  end(correction: Correction): Promise<void> | void;
}

/** An admitted request. */
export interface Reservation {
  readonly admitted: true;
  readonly state: LimitWindows;
  /** Tokens counted against the tokens per minute. */
  readonly tokens: number;
  readonly taken: Taken;
}

/** Returns an admission that ends its reservation once, however often it is settled or cancelled. */
export function createAdmission({ state, tokens, taken }: Omit<Reservation, "admitted">): Admission {
  return new EndedOnce(state, tokens, taken);
}

class EndedOnce implements Admission {
  readonly admitted = true;
  readonly state: LimitWindows;
  readonly #tokens: number;
  readonly #taken: Taken;
  #ended: Promise<void> | undefined;

  constructor(state: LimitWindows, tokens: number, taken: Taken) {
    this.state = state;
    this.#tokens = tokens;
    this.#taken = taken;
  }

  settle(used: number): Promise<void> {
    return this.#end({ requests: 0, tokens: isTokenCount(used) ? Math.ceil(used) - this.#tokens : 0 });
  }

  cancel(): Promise<void> {
    return this.#end({ requests: -1, tokens: -this.#tokens });
  }

  #end(correction: Correction): Promise<void> {
    this.#ended ??= this.#taken.end(correction) ?? Promise.resolve();
    return this.#ended;
  }
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

/** The counts of the last minute of a key or an account, with its current limits. */
export interface WindowSnapshot {
  readonly limits: Limits;
  readonly requests: number;
  readonly tokens: number;
  /** Milliseconds until the window counts none of the quantity, if nothing else is admitted. */
  readonly requestsResetMs: number;
  readonly tokensResetMs: number;
}

/** Returns the state of each per-minute limit: of the key or of the account, whichever has less remaining. */
export function limitStateOf(key: WindowSnapshot, account: WindowSnapshot): LimitWindows {
  return {
    requests: tighterOf(requestsOf(key), requestsOf(account)),
    tokens: tighterOf(tokensOf(key), tokensOf(account)),
  };
}

function requestsOf({ limits, requests, requestsResetMs }: WindowSnapshot): LimitWindow | undefined {
  return windowOf(limits.requestsPerMinute, requests, requestsResetMs);
}

function tokensOf({ limits, tokens, tokensResetMs }: WindowSnapshot): LimitWindow | undefined {
  return windowOf(limits.tokensPerMinute, tokens, tokensResetMs);
}

function windowOf(limit: number | undefined, used: number, resetMs: number): LimitWindow | undefined {
  return limit === undefined ? undefined : { limit, remaining: Math.max(limit - used, 0), resetMs };
}

function tighterOf(key: LimitWindow | undefined, account: LimitWindow | undefined): LimitWindow | undefined {
  if (!key || !account) return key ?? account;
  return key.remaining <= account.remaining ? key : account;
}
