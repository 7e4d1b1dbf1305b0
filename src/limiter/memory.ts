import { type Correction, createAdmission, type Reservation, wholeTokens } from "./admission.ts";
import { type CallerUsage, createCallerTable } from "./callers.ts";
import { type LimitedSnapshot, limitOf, limitStateOf, type WindowSnapshot } from "./limit-state.ts";
import type { AdmissionRequest, LimitDecline, Limiter, LimitUsage } from "./limiter.ts";
import { createSteadyClock, monotonicMs } from "./steady-clock.ts";
import { advance, correct, type Quantity, resetMs, take, waitMs } from "./window.ts";

export interface MemoryLimiterOptions {
  /** Milliseconds of any clock; only differences count, so one that cannot be set is best. */
  readonly now?: () => number;
}

/** The limiter of a single process; it answers at once. */
export interface MemoryLimiter extends Limiter {
  /** The same as `admit`, at once, for others to make an admission of. */
  take(request: AdmissionRequest): Reservation | LimitDecline;
  /** Counts what was admitted elsewhere, whatever the limits are. Returns what ends it, to be called once. */
  note(request: AdmissionRequest): (change: Correction) => void;
}

/** Nothing is awaited between looking and taking, so no lock is needed. */
export function createMemoryLimiter({ now = monotonicMs }: MemoryLimiterOptions = {}): MemoryLimiter {
  const clock = createSteadyClock(() => Math.floor(now()));
  const keys = createCallerTable();
  const accounts = createCallerTable();

  function findBoth(request: AdmissionRequest): Asked {
    const nowMs = clock();
    const key = { caller: keys.find(nameOf(request), nowMs), limits: request.keyLimits };
    const account = { caller: accounts.find(request.accountId, nowMs), limits: request.accountLimits };
    return { key, account, tokens: wholeTokens(request.tokens), nowMs, clock };
  }

  function usage(request: Omit<AdmissionRequest, "tokens">): LimitUsage {
    const nowMs = clock();
    const key = { caller: keys.peek(nameOf(request), nowMs), limits: request.keyLimits };
    const account = { caller: accounts.peek(request.accountId, nowMs), limits: request.accountLimits };
    return { ...stateOf({ key, account, nowMs }), running: key.caller.running };
  }

  return {
    async admit(request) {
      const decision = decide(findBoth(request));
      return decision.admitted ? createAdmission(decision) : decision;
    },
    take: (request) => decide(findBoth(request)),
    note: (request) => takeBoth(findBoth(request)),
    usage: async (request) => usage(request),
    ping: async () => undefined,
    close: () => undefined,
  };
}

/** A key goes by its account's name too. */
function nameOf({ accountId, keyId }: Pick<AdmissionRequest, "accountId" | "keyId">): string {
  return `${accountId}\0${keyId}`;
}

interface Limited {
  readonly caller: CallerUsage;
  readonly limits: LimitedSnapshot["limits"];
}

interface Asked {
  readonly key: Limited;
  readonly account: Limited;
  readonly tokens: number;
  readonly nowMs: number;
  readonly clock: () => number;
}

function decide(asked: Asked): Reservation | LimitDecline {
  const { key, account, tokens, nowMs } = asked;
  const rateWaitMs = Math.max(rateWait(key, tokens, nowMs), rateWait(account, tokens, nowMs));
  if (rateWaitMs > 0) return refusal("rate", Math.ceil(rateWaitMs / 1000), asked);
  if (isFull(key) || isFull(account)) return refusal("concurrency", 1, asked);
  const end = takeBoth(asked);
  return { admitted: true, state: stateOf(asked), tokens, end };
}

function refusal(bound: LimitDecline["bound"], retryAfterS: number, asked: Asked): LimitDecline {
  return { admitted: false, bound, retryAfterS, state: stateOf(asked) };
}

/** Returns what gives the slots back, once, and changes what was taken. */
function takeBoth({ key, account, tokens, nowMs, clock }: Asked): (change: Correction) => void {
  const second = take(key.caller.window, nowMs, tokens);
  take(account.caller.window, nowMs, tokens);
  key.caller.running += 1;
  account.caller.running += 1;
  return (change) => {
    const endMs = clock();
    for (const { caller } of [key, account]) {
      caller.running -= 1;
      advance(caller.window, endMs);
      correct(caller.window, second, change);
    }
  };
}

function stateOf({ key, account, nowMs }: Pick<Asked, "key" | "account" | "nowMs">) {
  return limitStateOf(boundOf(key, nowMs), boundOf(account, nowMs));
}

function boundOf({ caller, limits }: Limited, nowMs: number): LimitedSnapshot {
  const { window, running } = caller;
  const { requests, tokens } = window;
  const standing: WindowSnapshot = { requests, tokens, running, resetMs: (of) => resetMs(window, nowMs, of) };
  return { standing, limits };
}

/** How long the longest short window of one bound makes this request wait; 0 when none is short. */
function rateWait(bound: Limited, tokens: number, nowMs: number): number {
  return Math.max(
    windowWait(bound, nowMs, { of: "requests", amount: 1 }),
    windowWait(bound, nowMs, { of: "tokens", amount: tokens }),
  );
}

function windowWait(
  { caller, limits }: Limited,
  nowMs: number,
  wanted: { of: Quantity; amount: number },
): number {
  const limit = limitOf(limits, wanted.of);
  if (limit === undefined) return 0;
  const excess = limit <= 0 ? Number.POSITIVE_INFINITY : caller.window[wanted.of] + wanted.amount - limit;
  return waitMs(caller.window, nowMs, { of: wanted.of, excess });
}

function isFull({ caller, limits }: Limited): boolean {
  return limits.concurrentRequests !== undefined && caller.running >= limits.concurrentRequests;
}
