/** Bounds of one caller. `undefined` is no bound; 0 admits nothing. */
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
  /** Input estimate plus output ceiling; from 0. */
  readonly tokens: number;
}

/** One per-minute window as a client sees it, after this admission; the tighter of key and account. */
export interface WindowState {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the window is whole again if nothing else is admitted. */
  readonly resetMs: number;
}

export interface LimitState {
  readonly requests: WindowState | undefined;
  readonly tokens: WindowState | undefined;
}

/**
 * A request that was let in. Exactly one of `settle` and `cancel` ends it; later calls do nothing. Both
 * resolve when its slot is free for everyone, but after {@link PATIENCE_MS} at most, and never reject.
 */
export interface Admission {
  readonly admitted: true;
  readonly state: LimitState;
  /** Gives the slot back and corrects the tokens taken to the `tokens` really used. */
  settle(tokens: number): Promise<void>;
  /** Takes the admission back whole: request, tokens and slot count for nothing any more. */
  cancel(): Promise<void>;
}

export interface LimitDecline {
  readonly admitted: false;
  /** When several bounds refuse at once, `rate` is said before `concurrency`. */
  readonly bound: "rate" | "concurrency";
  /** Whole seconds, 1 to 60. A lone caller who waits that long passes a `rate` bound. */
  readonly retryAfterS: number;
  readonly state: LimitState;
}

/** What a key may do now, for `GET /v1/key`. */
export interface LimitUsage extends LimitState {
  readonly running: number;
}

/** How long a shared limiter is waited for. */
export const PATIENCE_MS = 200;

/** The shared limiter is away, and nobody is to be let in without it. */
export class LimiterError extends Error {
  override readonly name = "LimiterError";
}

/**
 * Decides requests per minute, tokens per minute and concurrency of key and account together:
 * all are taken or none is. Never more than N in any half-open 60 seconds.
 * Throws {@link LimiterError} when it cannot decide.
 */
export interface Limiter {
  admit(request: AdmissionRequest): Promise<Admission | LimitDecline>;
  /** Reads without taking. */
  usage(request: Omit<AdmissionRequest, "tokens">): Promise<LimitUsage>;
  /** Rejects when it would let nobody in. */
  ping(): Promise<void>;
  close(): void;
}
