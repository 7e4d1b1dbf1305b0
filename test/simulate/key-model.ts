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
  /** Agents that make a key below it. */
  making = 0;
  hasChildren = false;
  #versions: Version[];
  /** Of the key above, whose bounds are its own. */
  readonly #parent: KeyHistory | undefined;
  #revokedAtMs = Number.POSITIVE_INFINITY;

  constructor(scheduler: Scheduler, state: KeyState, parent?: KeyHistory) {
    this.#scheduler = scheduler;
    this.#parent = parent;
    this.#versions = [{ state, fromMs: scheduler.monotonicMs, toMs: Number.POSITIVE_INFINITY }];
  }

  /** When an operator knew that it is revoked, or a key above it, on the clock that cannot be set. */
  get revokedAtMs(): number {
    return Math.min(this.#revokedAtMs, this.#parent?.revokedAtMs ?? Number.POSITIVE_INFINITY);
  }

  set revokedAtMs(ms: number) {
    this.#revokedAtMs = ms;
  }

  /** As the latest changes have it, which may not be done yet. */
  get latest(): KeyState {
    return this.#parent ? below(this.#parent.latest, this.#own) : this.#own;
  }

  get #own(): KeyState {
    const last = this.#versions.at(-1);
    if (!last) throw new Error("A key has a state");
    return last.state;
  }

  /** The histories of the key and of those above it. */
  chain(): readonly KeyHistory[] {
    return this.#parent ? [this, ...this.#parent.chain()] : [this];
  }

  /** A change is sent: from now on it may have happened. */
  begin(changes: Partial<KeyState>): void {
    const { monotonicMs: fromMs } = this.#scheduler;
    this.#versions.push({ state: { ...this.#own, ...changes }, fromMs, toMs: Number.POSITIVE_INFINITY });
  }

  /** The latest change is answered: from now on it has happened. */
  end(): void {
    const { monotonicMs: nowMs } = this.#scheduler;
    for (const version of this.#versions.slice(0, -1)) version.toMs = Math.min(version.toMs, nowMs);
    this.#versions = this.#versions.filter(({ toMs }) => toMs > nowMs - 10 * STALE_MAX_MS);
  }

  /** The states that a gateway may know that has read the key since then. */
  since(sinceMs: number): readonly KeyState[] {
    const own = this.#versions.filter(({ toMs }) => toMs >= sinceMs).map(({ state }) => state);
    if (!this.#parent) return own;
    return this.#parent.since(sinceMs).flatMap((above) => own.map((state) => below(above, state)));
  }
}

/** What a key is below another one: it has the rates of that one, and ends with it. */
function below(above: KeyState, { expiresAtMs, isRevoked, secrets }: KeyState): KeyState {
  const ends = [above.expiresAtMs, expiresAtMs].filter((ms) => ms !== undefined);
  return {
    limits: above.limits,
    expiresAtMs: ends.length === 0 ? undefined : Math.min(...ends),
    isRevoked: above.isRevoked || isRevoked,
    secrets,
  };
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
