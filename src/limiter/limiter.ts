import type { LimitWindows } from "../domain/limit-windows.ts";
import { type Window, waitMs } from "./window.ts";

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
 * reject.
 */
export interface Admission {
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
