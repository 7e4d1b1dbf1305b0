import { isFull, type Limits, rateWait, shareOf } from "../limiter/limiter.ts";
import { advance, correct, createSteadyClock, createWindow, take } from "../limiter/window.ts";

/** A request that stays within the bounds of a key, until it ends. */
export interface KeySlot {
  /**
   * Gives the slot back and replaces the estimate by the tokens used. `undefined`: the upstream never got the
   * request, which then counts for nothing. Only the first call counts.
   */
  end(tokens: number | undefined): void;
}

/** What one key may be sent: requests and tokens of any 60 seconds, and requests at a time. */
export interface KeyBounds {
  /** Takes a request and its tokens, together or not at all; `undefined` while a bound is full. */
  take(tokens: number): KeySlot | undefined;
  /** Milliseconds until {@link take} may succeed; 0 when it does now. 1,000 while too many requests run. */
  waitMs(tokens: number): number;
  /** Replaces the limits. What was taken stays taken. */
  change(limits: Limits): void;
}

interface BoundsOptions {
  /** Number of gateways; each admits that part of every limit. */
  readonly replicas: number;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
}

/** No moment is known at which a running request ends. */
const BUSY_WAIT_MS = 1_000;

/**
 * Counts in this process. A request with more tokens than a minute admits takes the whole minute: it would
 * otherwise never be sent.
 */
export function createKeyBounds(started: Limits, { replicas, clock }: BoundsOptions): KeyBounds {
  const now = createSteadyClock(clock);
  const window = createWindow();
  let whole = started;
  let running = 0;

  /** The share of the limits for one request, and the tokens that it takes of them. */
  function requestOf(wanted: number, nowMs: number) {
    const tokens = Math.min(wanted, whole.tokensPerMinute ?? Number.POSITIVE_INFINITY);
    advance(window, nowMs);
    return { tokens, nowMs, limits: shareOf(whole, replicas, tokens) };
  }

  class TakenSlot implements KeySlot {
    readonly #second: number;
    readonly #tokens: number;
    #isEnded = false;

    constructor(tokens: number, nowMs: number) {
      this.#second = take(window, nowMs, tokens);
      this.#tokens = tokens;
      running += 1;
    }

    end(tokens: number | undefined): void {
      if (this.#isEnded) return;
      this.#isEnded = true;
      running -= 1;
      advance(window, now());
      const requests = tokens === undefined ? -1 : 0;
      correct(window, this.#second, { requests, tokens: (tokens ?? 0) - this.#tokens });
    }
  }

  return {
    take(wanted) {
      const { tokens, nowMs, limits } = requestOf(wanted, now());
      if (isFull(running, limits) || rateWait(window, limits, { tokens, nowMs }) > 0) return undefined;
      return new TakenSlot(tokens, nowMs);
    },
    waitMs(wanted) {
      const { tokens, nowMs, limits } = requestOf(wanted, now());
      return Math.max(
        isFull(running, limits) ? BUSY_WAIT_MS : 0,
        rateWait(window, limits, { tokens, nowMs }),
      );
    },
    change(limits) {
      whole = limits;
    },
  };
}
