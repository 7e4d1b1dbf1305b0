import { createCallers } from "./callers.ts";
import { type Bound, limitOf, limitStateOf } from "./limit-state.ts";
import type { Admission, AdmissionRequest, Limiter, LimitUsage, Refusal } from "./limiter.ts";
import { createSteadyClock } from "./steady-clock.ts";
import { advance, type Counted, correct, take, waitMs } from "./window.ts";

export interface MemoryLimiterOptions {
  /** Milliseconds of any clock; only differences count, so one that cannot be set is best. */
  readonly now?: () => number;
}

/** The limiter of a single process. Nothing is awaited between looking and taking, so no lock is needed. */
export function createMemoryLimiter({ now = monotonicMs }: MemoryLimiterOptions = {}): Limiter {
  const clock = createSteadyClock(() => Math.floor(now()));
  const keys = createCallers();
  const accounts = createCallers();

  function admit(request: AdmissionRequest): Admission | Refusal {
    const nowMs = clock();
    const tokens = wholeTokens(request.tokens);
    const key = { caller: keys.find(request.keyId, nowMs), limits: request.keyLimits };
    const account = { caller: accounts.find(request.accountId, nowMs), limits: request.accountLimits };

    const rateWaitMs = Math.max(rateWait(key, tokens, nowMs), rateWait(account, tokens, nowMs));
    const isRateShort = rateWaitMs > 0;
    if (isRateShort || isFull(key) || isFull(account)) {
      return {
        admitted: false,
        bound: isRateShort ? "rate" : "concurrency",
        retryAfterS: isRateShort ? Math.ceil(rateWaitMs / 1000) : 1,
        state: limitStateOf(key, account, nowMs),
      };
    }
    return takeBoth({ key, account, tokens, nowMs, clock });
  }

  function usage(request: Omit<AdmissionRequest, "tokens">): LimitUsage {
    const nowMs = clock();
    const key = { caller: keys.peek(request.keyId, nowMs), limits: request.keyLimits };
    const account = { caller: accounts.peek(request.accountId, nowMs), limits: request.accountLimits };
    return { ...limitStateOf(key, account, nowMs), running: key.caller.running };
  }

  return {
    admit: async (request) => admit(request),
    usage: async (request) => usage(request),
  };
}

interface Taking {
  readonly key: Bound;
  readonly account: Bound;
  readonly tokens: number;
  readonly nowMs: number;
  readonly clock: () => number;
}

function takeBoth({ key, account, tokens, nowMs, clock }: Taking): Admission {
  const second = take(key.caller.window, nowMs, tokens);
  take(account.caller.window, nowMs, tokens);
  key.caller.running += 1;
  account.caller.running += 1;

  let isOver = false;
  function end(change: Readonly<Record<Counted, number>>): void {
    if (isOver) return;
    isOver = true;
    const endMs = clock();
    for (const { caller } of [key, account]) {
      caller.running -= 1;
      advance(caller.window, endMs);
      correct(caller.window, second, change);
    }
  }

  return {
    admitted: true,
    state: limitStateOf(key, account, nowMs),
    settle: (used) => end({ requests: 0, tokens: isCount(used) ? Math.ceil(used) - tokens : 0 }),
    cancel: () => end({ requests: -1, tokens: -tokens }),
  };
}

/** How long the longest short window of one bound makes this request wait; 0 when none is short. */
function rateWait(bound: Bound, tokens: number, nowMs: number): number {
  return Math.max(
    windowWait(bound, nowMs, { of: "requests", amount: 1 }),
    windowWait(bound, nowMs, { of: "tokens", amount: tokens }),
  );
}

function windowWait(
  { caller, limits }: Bound,
  nowMs: number,
  wanted: { of: Counted; amount: number },
): number {
  const limit = limitOf(limits, wanted.of);
  if (limit === undefined) return 0;
  const used = wanted.of === "requests" ? caller.window.requests : caller.window.tokens;
  const excess = limit <= 0 ? Number.POSITIVE_INFINITY : used + wanted.amount - limit;
  return waitMs(caller.window, nowMs, { of: wanted.of, excess });
}

function isFull({ caller, limits }: Bound): boolean {
  return limits.concurrentRequests !== undefined && caller.running >= limits.concurrentRequests;
}

/** Throws RangeError: one NaN in a running sum would let everything in for ever. */
function wholeTokens(tokens: number): number {
  if (!isCount(tokens)) throw new RangeError(`Cannot admit ${tokens} tokens: expected a count from 0`);
  return Math.ceil(tokens);
}

function isCount(tokens: number): boolean {
  return tokens >= 0 && tokens <= Number.MAX_SAFE_INTEGER;
}

function monotonicMs(): number {
  return performance.now();
}
