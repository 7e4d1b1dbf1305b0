import type { AdmissionRequest, Limiter, Limits } from "../../src/limiter/limiter.ts";
import type { SimulatedRequest } from "./clients.ts";
import type { Scheduler } from "./scheduler.ts";

/** A secret of a key, and when it ends on the wall clock. */
interface Secret {
  readonly text: string;
  readonly endsAtMs?: number | undefined;
}

/** What the database has of a key. */
export interface KeyState {
  readonly limits: Limits;
  readonly expiresAtMs: number | undefined;
  readonly isRevoked: boolean;
  readonly secrets: readonly Secret[];
}

interface Version {
  readonly state: KeyState;
  /** When its change was sent, on the clock that cannot be set. */
  readonly fromMs: number;
  /** When the change after it was answered. */
  toMs: number;
}

/** A gateway may use a key as it was so long ago: 500 ms in its cache, and 500 ms while a body arrives. */
const STALE_MAX_MS = 1_000;

/** Longer than a gateway takes to end the requests of a key that was revoked. */
const REVOKED_MS_MAX = 3_000;

/** What a key is, and what it may be for a gateway that has read it a moment ago. */
export class KeyHistory {
  /** Whether an operator is at it: a second one waits. */
  isChanging = false;
  readonly #scheduler: Scheduler;
  /** When an operator knew that it is revoked, on the clock that cannot be set. */
  revokedAtMs = Number.POSITIVE_INFINITY;
  #versions: Version[];

  constructor(scheduler: Scheduler, state: KeyState) {
    this.#scheduler = scheduler;
    this.#versions = [{ state, fromMs: scheduler.monotonicMs, toMs: Number.POSITIVE_INFINITY }];
  }

  /** As the latest change has it, which may not be done yet. */
  get latest(): KeyState {
    const last = this.#versions.at(-1);
    if (!last) throw new Error("A key has a state");
    return last.state;
  }

  /** A change is sent: from now on it may have happened. */
  begin(changes: Partial<KeyState>): void {
    const { monotonicMs: fromMs } = this.#scheduler;
    this.#versions.push({ state: { ...this.latest, ...changes }, fromMs, toMs: Number.POSITIVE_INFINITY });
  }

  /** The latest change is answered: from now on it has happened. */
  end(): void {
    const { monotonicMs: nowMs } = this.#scheduler;
    for (const version of this.#versions.slice(0, -1)) version.toMs = Math.min(version.toMs, nowMs);
    this.#versions = this.#versions.filter(({ toMs }) => toMs > nowMs - 10 * STALE_MAX_MS);
  }

  /** The states that a gateway may know that has read the key since then. */
  since(sinceMs: number): readonly KeyState[] {
    return this.#versions.filter(({ toMs }) => toMs >= sinceMs).map(({ state }) => state);
  }
}

/** Knows whether a key was in force, and under which limits. */
export class KeyModel {
  readonly #scheduler: Scheduler;
  readonly #report: (claim: string) => void;

  /** `report` is called inside of the simulated program, which would catch an error. */
  constructor(scheduler: Scheduler, report: (claim: string) => void) {
    this.#scheduler = scheduler;
    this.#report = report;
  }

  /** Checks the admissions of one request: its key must be in force, and its limits the true ones. */
  watch(request: SimulatedRequest, limiter: Limiter): Limiter {
    return {
      ...limiter,
      admit: (admission) => {
        this.#checkAdmission(request, admission);
        return limiter.admit(admission);
      },
    };
  }

  /** Checks a refusal of a request's secret: at some time since it arrived, the key must not have been in force. */
  checkRefusal(request: SimulatedRequest): void {
    const { key, startedAtMs, number } = request;
    if (this.#wasClockSet(request)) return;
    const nowMs = this.#scheduler.wallMs();
    const states = key.history.since(startedAtMs - STALE_MAX_MS);
    if (states.every((state) => isInForce(state, request.secret, nowMs)))
      this.#report(`request ${number}: its key was refused, which was in force`);
  }

  /** Checks the use of a key that runs on: while an upstream is asked, and when a client is sent output. */
  checkUse({ number, key, askedAtMs }: SimulatedRequest): void {
    const sinceMs = Math.max(key.history.revokedAtMs, askedAtMs);
    if (this.#scheduler.monotonicMs <= sinceMs + REVOKED_MS_MAX) return;
    this.#report(`request ${number}: it went on after its key was revoked`);
  }

  #checkAdmission(request: SimulatedRequest, { keyLimits, accountLimits }: AdmissionRequest): void {
    const { number, key, secret, config } = request;
    const { monotonicMs } = this.#scheduler;
    const states = key.history.since(monotonicMs - STALE_MAX_MS);
    const isLimit = (state: KeyState) => areSame(keyLimits, { ...config.keyLimits, ...state.limits });
    if (!states.some(isLimit) || !areSame(accountLimits, config.accountLimits))
      this.#report(`request ${number}: it was admitted by limits that are not those of its key`);
    if (this.#wasClockSet(request)) return;
    // Expiries are compared when the key is found, at most 500 ms before.
    const nowMs = this.#scheduler.wallMs() - STALE_MAX_MS / 2;
    if (!states.some((state) => isLimit(state) && isInForce(state, secret, nowMs)))
      this.#report(`request ${number}: it was admitted with a secret that was not in force`);
  }

  #wasClockSet({ shiftMs }: SimulatedRequest): boolean {
    return shiftMs !== this.#scheduler.shiftMs;
  }
}

function isInForce({ isRevoked, expiresAtMs, secrets }: KeyState, text: string, nowMs: number): boolean {
  if (isRevoked || (expiresAtMs !== undefined && expiresAtMs <= nowMs)) return false;
  return secrets.some((each) => each.text === text && (each.endsAtMs === undefined || nowMs < each.endsAtMs));
}

const LIMIT_NAMES = ["requestsPerMinute", "tokensPerMinute", "concurrentRequests"] as const;

function areSame(one: Limits, other: Limits): boolean {
  return LIMIT_NAMES.every((name) => one[name] === other[name]);
}
