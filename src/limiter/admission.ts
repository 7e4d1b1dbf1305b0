import type { Admission, LimitState } from "./limiter.ts";

/** By how much what an admission counts for is changed. */
export interface Correction {
  readonly requests: number;
  readonly tokens: number;
}

/** What was taken for a request that is let in. */
export interface Reservation {
  readonly admitted: true;
  readonly state: LimitState;
  /** What was taken of the tokens per minute. */
  readonly tokens: number;
  /** Gives the slot back and changes what was taken; to be called once. */
  end(change: Correction): Promise<void> | void;
}

/** An admission that ends once, however often it is told to. */
export function createAdmission({ state, tokens, end }: Reservation): Admission {
  let ended: Promise<void> | undefined;
  const endOnce = (change: Correction) => {
    ended ??= Promise.resolve(end(change));
    return ended;
  };
  return {
    admitted: true,
    state,
    settle: (used) => endOnce({ requests: 0, tokens: isCount(used) ? Math.ceil(used) - tokens : 0 }),
    cancel: () => endOnce({ requests: -1, tokens: -tokens }),
  };
}

/** Throws RangeError: one NaN in a running sum would let everything in for ever. */
export function wholeTokens(tokens: number): number {
  if (!isCount(tokens)) throw new RangeError(`Cannot admit ${tokens} tokens: expected a count from 0`);
  return Math.ceil(tokens);
}

function isCount(tokens: number): boolean {
  return tokens >= 0 && tokens <= Number.MAX_SAFE_INTEGER;
}
