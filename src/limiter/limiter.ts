import type { LimitWindow, LimitWindows } from "../domain/limit-windows.ts";
import { type Quantity, type Window, waitMs } from "./window.ts";

/** Limits of one key or account. `undefined` is unlimited; 0 admits nothing. */
export interface Limits {
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  readonly concurrentRequests?: number | undefined;
}

export interface AdmissionRequest {
  readonly accountId: string;
  readonly keyId: string;
  readonly keyLimits: Limits;
  /** Caps on all keys of the account together. */
  readonly accountLimits: Limits;
  /** Input estimate plus maximum output tokens, from 0. */
  readonly tokens: number;
}

/**
 * An admitted request. Exactly one call of `settle` or `cancel` ends it; later calls do nothing. Both resolve
 * when every gateway can use the slot again, after at most {@link SHARED_LIMITER_TIMEOUT_MS}. They never
 * reject. Disposal settles 0 tokens, after a fault.
 */
export interface Admission extends AsyncDisposable {
  readonly admitted: true;
  readonly state: LimitWindows;
  /** Frees the slot and replaces the token estimate by the `tokens` really used. */
  settle(tokens: number): Promise<void>;
  /** Undoes the admission: its request, tokens and slot are no longer counted. */
  cancel(): Promise<void>;
}

/** A request that a limit declined. */
export interface LimitDecline {
  readonly admitted: false;
  /** The exceeded limit. `rate` has precedence over `concurrency` when both are exceeded. */
  readonly bound: "rate" | "concurrency";
  /** Whole seconds, 1 to 60. After a `rate` decline, a lone caller that waits this long is admitted. */
  readonly retryAfterS: number;
  readonly state: LimitWindows;
}

/** Limit state of a key, and the running requests of the key and of its account. */
export interface LimitUsage extends LimitWindows {
  readonly running: number;
  readonly accountRunning: number;
}

interface LimiterStatus {
  readonly backend: "memory" | "redis";
  /** `shared` by all gateways of a Redis, `local` to this process, or `denying` every request. */
  readonly mode: "shared" | "local" | "denying";
}

/** Longest wait for an answer of a shared limiter. */
export const SHARED_LIMITER_TIMEOUT_MS = 1_000;

/** The shared limiter is unavailable, and the configuration denies requests without it. */
export class LimiterError extends Error {
  override readonly name = "LimiterError";
}

/**
 * Enforces requests per minute, tokens per minute and concurrent requests, of a key and its account at once.
 * An admission is atomic: every window and slot is taken, or none. Any half-open 60 seconds contain at most
 * as many admitted requests as the limit. Rejects with {@link LimiterError} when no decision is possible.
 */
export interface Limiter {
  admit(request: AdmissionRequest): Promise<Admission | LimitDecline>;
  /** Reads the state without taking anything. */
  usage(request: Omit<AdmissionRequest, "tokens">): Promise<LimitUsage>;
  /** Where admissions are counted now. */
  status(): Promise<LimiterStatus>;
  close(): void;
}

/** One request of `tokens` at one time. */
interface RatedRequest {
  readonly tokens: number;
  readonly nowMs: number;
}

/** Returns the milliseconds until both per-minute limits admit the request; 0 when they admit it now. */
export function rateWait(
  window: Window,
  { requestsPerMinute, tokensPerMinute }: Limits,
  { tokens, nowMs }: RatedRequest,
): number {
  const requestsOver = excess(window.requests, 1, requestsPerMinute);
  const tokensOver = excess(window.tokens, tokens, tokensPerMinute);
  if (requestsOver <= 0 && tokensOver <= 0) return 0;
  return Math.max(
    waitMs(window, nowMs, { of: "requests", excess: requestsOver }),
    waitMs(window, nowMs, { of: "tokens", excess: tokensOver }),
  );
}

/** Returns by how much a limit would be exceeded. A limit of 0 admits nothing, not even zero tokens. */
function excess(used: number, wanted: number, limit: number | undefined): number {
  if (limit === undefined) return 0;
  return limit <= 0 ? Number.POSITIVE_INFINITY : used + wanted - limit;
}

/** Whether as many requests run as the limit admits. */
export function isFull(running: number, { concurrentRequests }: Limits): boolean {
  return concurrentRequests !== undefined && running >= concurrentRequests;
}

/**
 * Returns one gateway's share of each limit, rounded up: a limit above zero never becomes zero. The share of
 * the tokens per minute admits one call of `tokens` whenever the whole limit does.
 */
export function shareOf(limits: Limits, gateways: number, tokens: number): Limits {
  const share = (limit: number | undefined) =>
    limit === undefined ? undefined : Math.ceil(limit / gateways);
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = limits;
  const tokensShare = share(tokensPerMinute);
  return {
    requestsPerMinute: share(requestsPerMinute),
    tokensPerMinute: tokensShare && Math.max(tokensShare, Math.min(tokensPerMinute ?? 0, tokens)),
    concurrentRequests: share(concurrentRequests),
  };
}

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

  [Symbol.asyncDispose](): Promise<void> {
    return this.settle(0);
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
