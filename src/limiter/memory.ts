import type { LimitWindows } from "../domain/limit-windows.ts";
import { platform } from "../platform.ts";
import type { LimiterMetrics } from "../telemetry/metrics.ts";
import {
  type AdmissionRequest,
  type Correction,
  checkTokens,
  createAdmission,
  isFull,
  type LimitDecline,
  type Limiter,
  type Limits,
  limitStateOf,
  type Reservation,
  rateWait,
  type Taken,
  type WindowSnapshot,
} from "./limiter.ts";
import { advance, correct, createSteadyClock, createWindow, resetMs, take, type Window } from "./window.ts";

export interface MemoryLimiterOptions {
  /** Milliseconds of a clock, at best a monotonic one. Only differences are used. */
  readonly now?: () => number;
  /** Records each decision of `admit`. */
  readonly metrics?: Pick<LimiterMetrics, "decided">;
}

/** The limiter of a single process. It decides synchronously. */
export interface MemoryLimiter extends Limiter {
  /** Decides like `admit`, without metrics. The caller turns the reservation into an admission. */
  reserve(request: AdmissionRequest): Reservation | LimitDecline;
  /** Counts a request admitted elsewhere, ignoring the limits. */
  record(request: AdmissionRequest): Taken;
}

/** Needs no lock: nothing is awaited between the decision and the reservation. */
export function createMemoryLimiter({
  now = () => platform.monotonicMs(),
  metrics,
}: MemoryLimiterOptions = {}): MemoryLimiter {
  const clock = createSteadyClock(() => Math.floor(now()));
  const keys = createCallerTable();
  const accounts = createCallerTable();

  function openAttempt(request: AdmissionRequest): Attempt {
    const tokens = checkTokens(request.tokens);
    const nowMs = clock();
    const key = keys.find(keyNameOf(request), nowMs);
    const account = accounts.find(request.accountId, nowMs);
    return { request, key, account, tokens, nowMs };
  }

  function reserve(request: AdmissionRequest): Reservation | LimitDecline {
    const attempt = openAttempt(request);
    const declined = decline(attempt);
    if (declined) return declined;
    const taken = new TakenHere(attempt, clock);
    return { admitted: true, state: stateOf(attempt), tokens: attempt.tokens, taken };
  }

  return {
    // Not an async function, which would cost each request more.
    admit(request) {
      const decision = reserve(request);
      metrics?.decided("memory", decision.admitted ? "admitted" : decision.bound);
      return Promise.resolve(decision.admitted ? createAdmission(decision) : decision);
    },
    reserve,
    record: (request) => new TakenHere(openAttempt(request), clock),
    async usage(request) {
      const nowMs = clock();
      const key = keys.peek(keyNameOf(request), nowMs);
      const account = accounts.peek(request.accountId, nowMs);
      const state = stateOf({ request, key, account, nowMs });
      return { ...state, running: key.running, accountRunning: account.running };
    },
    status: async () => ({ backend: "memory", mode: "local" }),
    close: () => undefined,
  };
}

/** Key ids are unique within their account only. */
function keyNameOf({ accountId, keyId }: Pick<AdmissionRequest, "accountId" | "keyId">): string {
  return `${accountId}\0${keyId}`;
}

/** One request with the usage of its key and account, all at one time. */
interface Attempt {
  readonly request: Pick<AdmissionRequest, "keyLimits" | "accountLimits">;
  readonly key: CallerUsage;
  readonly account: CallerUsage;
  readonly tokens: number;
  readonly nowMs: number;
}

/** Returns the decline of a request; `undefined` when it fits all limits. */
function decline(attempt: Attempt): LimitDecline | undefined {
  const { request, key, account, tokens, nowMs } = attempt;
  const { keyLimits, accountLimits } = request;
  const rateWaitMs = Math.max(
    rateWait(key.window, keyLimits, { tokens, nowMs }),
    rateWait(account.window, accountLimits, { tokens, nowMs }),
  );
  if (rateWaitMs > 0) {
    const retryAfterS = Math.ceil(rateWaitMs / 1000);
    return { admitted: false, bound: "rate", retryAfterS, state: stateOf(attempt) };
  }
  if (isFull(key.running, keyLimits) || isFull(account.running, accountLimits)) {
    return { admitted: false, bound: "concurrency", retryAfterS: 1, state: stateOf(attempt) };
  }
  return undefined;
}

/** A slot and the counts of one request, of its key and its account. */
class TakenHere implements Taken {
  readonly #key: CallerUsage;
  readonly #account: CallerUsage;
  readonly #second: number;
  readonly #clock: () => number;

  constructor({ key, account, tokens, nowMs }: Attempt, clock: () => number) {
    this.#key = key;
    this.#account = account;
    this.#clock = clock;
    this.#second = take(key.window, nowMs, tokens);
    take(account.window, nowMs, tokens);
    key.running += 1;
    account.running += 1;
  }

  end(correction: Correction): void {
    const nowMs = this.#clock();
    this.#endOf(this.#key, nowMs, correction);
    this.#endOf(this.#account, nowMs, correction);
  }

  #endOf(caller: CallerUsage, nowMs: number, correction: Correction): void {
    caller.running -= 1;
    advance(caller.window, nowMs);
    correct(caller.window, this.#second, correction);
  }
}

function stateOf({ request, key, account, nowMs }: Omit<Attempt, "tokens">): LimitWindows {
  return limitStateOf(
    snapshotOf(key.window, request.keyLimits, nowMs),
    snapshotOf(account.window, request.accountLimits, nowMs),
  );
}

function snapshotOf(window: Window, limits: Limits, nowMs: number): WindowSnapshot {
  const { requests, tokens } = window;
  return {
    limits,
    requests,
    tokens,
    requestsResetMs: resetMs(window, nowMs, "requests"),
    tokensResetMs: resetMs(window, nowMs, "tokens"),
  };
}

/** Usage of one key or account. Takes about 2 KB, whatever its limits. */
interface CallerUsage {
  readonly id: string;
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
  let unswept = callers.values();

  function sweep(nowMs: number): void {
    for (let count = 0; count < SWEPT_PER_FIND; count += 1) {
      const next = unswept.next();
      if (next.done) {
        unswept = callers.values();
        return;
      }
      const caller = next.value;
      advance(caller.window, nowMs);
      if (caller.running === 0 && caller.window.requests === 0) callers.delete(caller.id);
    }
  }

  function findKnown(id: string, nowMs: number): CallerUsage | undefined {
    const caller = callers.get(id);
    if (caller) advance(caller.window, nowMs);
    return caller;
  }

  function add(id: string): CallerUsage {
    const caller = createUsage(id);
    callers.set(id, caller);
    return caller;
  }

  return {
    find(id, nowMs) {
      sweep(nowMs);
      return findKnown(id, nowMs) ?? add(id);
    },
    peek: (id, nowMs) => findKnown(id, nowMs) ?? createUsage(id),
    get size() {
      return callers.size;
    },
  };
}

function createUsage(id: string): CallerUsage {
  return { id, window: createWindow(), running: 0 };
}
