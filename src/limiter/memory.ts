import type { LimiterMetrics } from "../telemetry/metrics.ts";
import {
  type Correction,
  checkTokens,
  createAdmission,
  type LimitedSnapshot,
  limitOf,
  limitStateOf,
  type Reservation,
} from "./admission.ts";
import type { AdmissionRequest, LimitDecline, Limiter, Limits, LimitUsage } from "./limiter.ts";
import {
  advance,
  correct,
  createSteadyClock,
  createWindow,
  type Quantity,
  resetMs,
  take,
  type Window,
  waitMs,
} from "./window.ts";

export interface MemoryLimiterOptions {
  /** Milliseconds. Only differences count; a monotonic clock is best. */
  readonly now?: () => number;
  /** Records each decision of `admit`. */
  readonly metrics?: Pick<LimiterMetrics, "decided">;
}

/** The limiter of a single process. It decides synchronously. */
export interface MemoryLimiter extends Limiter {
  /** Decides like `admit`, without metrics. The caller turns the reservation into an admission. */
  reserve(request: AdmissionRequest): Reservation | LimitDecline;
  /**
   * Counts a request admitted elsewhere, ignoring the limits. The returned function ends it; call it once.
   */
  record(request: AdmissionRequest): (correction: Correction) => void;
}

/** Needs no lock: nothing is awaited between the decision and the reservation. */
export function createMemoryLimiter({
  now = () => performance.now(),
  metrics,
}: MemoryLimiterOptions = {}): MemoryLimiter {
  const clock = createSteadyClock(() => Math.floor(now()));
  const keys = createCallerTable();
  const accounts = createCallerTable();

  function openAttempt(request: AdmissionRequest): Attempt {
    const nowMs = clock();
    const key = { caller: keys.find(keyNameOf(request), nowMs), limits: request.keyLimits };
    const account = { caller: accounts.find(request.accountId, nowMs), limits: request.accountLimits };
    return { key, account, tokens: checkTokens(request.tokens), nowMs, clock };
  }

  function usage(request: Omit<AdmissionRequest, "tokens">): LimitUsage {
    const nowMs = clock();
    const key = { caller: keys.peek(keyNameOf(request), nowMs), limits: request.keyLimits };
    const account = { caller: accounts.peek(request.accountId, nowMs), limits: request.accountLimits };
    return { ...stateOf({ key, account, nowMs }), running: key.caller.running };
  }

  return {
    async admit(request) {
      const decision = decide(openAttempt(request));
      metrics?.decided("memory", decision.admitted ? "admitted" : decision.bound);
      return decision.admitted ? createAdmission(decision) : decision;
    },
    reserve: (request) => decide(openAttempt(request)),
    record: (request) => takeBoth(openAttempt(request)),
    usage: async (request) => usage(request),
    ping: async () => undefined,
    close: () => undefined,
  };
}

/** Key ids are unique within their account only. */
function keyNameOf({ accountId, keyId }: Pick<AdmissionRequest, "accountId" | "keyId">): string {
  return `${accountId}\0${keyId}`;
}

/** Usage of a key or an account, with its current limits. */
interface LimitedCaller {
  readonly caller: CallerUsage;
  readonly limits: Limits;
}

/** One request with the usage of its key and account, all at one time. */
interface Attempt {
  readonly key: LimitedCaller;
  readonly account: LimitedCaller;
  readonly tokens: number;
  readonly nowMs: number;
  readonly clock: () => number;
}

function decide(attempt: Attempt): Reservation | LimitDecline {
  const { key, account, tokens, nowMs } = attempt;
  const rateWaitMs = Math.max(rateWait(key, tokens, nowMs), rateWait(account, tokens, nowMs));
  if (rateWaitMs > 0) return decline("rate", Math.ceil(rateWaitMs / 1000), attempt);
  if (isFull(key) || isFull(account)) return decline("concurrency", 1, attempt);
  const end = takeBoth(attempt);
  return { admitted: true, state: stateOf(attempt), tokens, end };
}

function decline(bound: LimitDecline["bound"], retryAfterS: number, attempt: Attempt): LimitDecline {
  return { admitted: false, bound, retryAfterS, state: stateOf(attempt) };
}

/**
 * Takes a slot and counts the request, for key and account. The returned function undoes both; call it once.
 */
function takeBoth({ key, account, tokens, nowMs, clock }: Attempt): (correction: Correction) => void {
  const second = take(key.caller.window, nowMs, tokens);
  take(account.caller.window, nowMs, tokens);
  key.caller.running += 1;
  account.caller.running += 1;
  return (correction) => {
    const endMs = clock();
    for (const { caller } of [key, account]) {
      caller.running -= 1;
      advance(caller.window, endMs);
      correct(caller.window, second, correction);
    }
  };
}

function stateOf({ key, account, nowMs }: Pick<Attempt, "key" | "account" | "nowMs">) {
  return limitStateOf(snapshotOf(key, nowMs), snapshotOf(account, nowMs));
}

function snapshotOf({ caller, limits }: LimitedCaller, nowMs: number): LimitedSnapshot {
  const { window, running } = caller;
  const { requests, tokens } = window;
  return { snapshot: { requests, tokens, running, resetMs: (of) => resetMs(window, nowMs, of) }, limits };
}

/** Returns the milliseconds until both per-minute limits admit the request; 0 when they admit it now. */
function rateWait(caller: LimitedCaller, tokens: number, nowMs: number): number {
  return Math.max(
    windowWait(caller, nowMs, { of: "requests", amount: 1 }),
    windowWait(caller, nowMs, { of: "tokens", amount: tokens }),
  );
}

function windowWait(
  { caller, limits }: LimitedCaller,
  nowMs: number,
  wanted: { of: Quantity; amount: number },
): number {
  const limit = limitOf(limits, wanted.of);
  if (limit === undefined) return 0;
  const excess = limit <= 0 ? Number.POSITIVE_INFINITY : caller.window[wanted.of] + wanted.amount - limit;
  return waitMs(caller.window, nowMs, { of: wanted.of, excess });
}

function isFull({ caller, limits }: LimitedCaller): boolean {
  return limits.concurrentRequests !== undefined && caller.running >= limits.concurrentRequests;
}

/** Usage of one key or account. Takes about 2 KB, whatever its limits. */
interface CallerUsage {
  readonly window: Window;
  /** Requests admitted and not yet ended. */
  running: number;
}

/**
 * Usage by id of a key or account. An entry with nothing counted and nothing running is removed by later
 * lookups.
 */
export interface CallerTable {
  /** Returns the usage at `nowMs`; adds an entry for an unknown id. */
  find(id: string, nowMs: number): CallerUsage;
  /** Returns the usage at `nowMs`, without adding an entry. */
  peek(id: string, nowMs: number): CallerUsage;
  readonly size: number;
}

/** Entries examined by each `find`. More than one, so that entries are removed faster than they are added. */
const SWEPT_PER_FIND = 2;

export function createCallerTable(): CallerTable {
  const callers = new Map<string, CallerUsage>();
  let unswept = callers.entries();

  function sweep(nowMs: number): void {
    for (let count = 0; count < SWEPT_PER_FIND; count += 1) {
      const next = unswept.next();
      if (next.done) {
        unswept = callers.entries();
        return;
      }
      const [id, caller] = next.value;
      advance(caller.window, nowMs);
      if (caller.running === 0 && caller.window.requests === 0) callers.delete(id);
    }
  }

  function peek(id: string, nowMs: number): CallerUsage {
    const caller = callers.get(id);
    if (!caller) return { window: createWindow(), running: 0 };
    advance(caller.window, nowMs);
    return caller;
  }

  return {
    find(id, nowMs) {
      sweep(nowMs);
      const caller = peek(id, nowMs);
      callers.set(id, caller);
      return caller;
    },
    peek,
    get size() {
      return callers.size;
    },
  };
}
