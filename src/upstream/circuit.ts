import {
  type CircuitOptions,
  CircuitPermit,
  isOpenFor,
  type Open,
  type Permit,
  type Phase,
  Phases,
} from "./circuit-phases.ts";

/** The account of calls without one. */
const NO_ACCOUNT = "";

/** A probe without an outcome after this time no longer delays the next one. */
const PROBE_SILENCE_MAX_MS = 30_000;

/** Concurrent permits given by force, beside probes. */
const FORCED_MAX = 32;

/** A circuit as an operator sees it. */
interface CircuitStatus {
  /** `half_open` while a probe may start or runs. */
  readonly state: "closed" | "open" | "half_open";
  /** Whether the circuit was opened by {@link Circuit.force}. */
  readonly isForced: boolean;
  /** Whether the upstream rejected the key. */
  readonly isRejected: boolean;
  /** Milliseconds until the next probe may start; `undefined` when closed or forced. */
  readonly probeInMs: number | undefined;
  /** Consecutive failures of a closed circuit. */
  readonly failures: number;
  /** Permits whose call has not ended. */
  readonly running: number;
}

/**
 * Withholds calls from a failing upstream, except for single probes. A circuit that the requests of one person's
 * accounts have opened is open for these only, until a request of another one fails as well.
 */
export interface Circuit {
  /** Returns a permit; `undefined` while the circuit is open, or half-open with a running probe. */
  acquire(accountId?: string): Permit | undefined;
  /** Like {@link acquire}, but also while open, for requests without another route. At most 32 at a time. */
  forceAcquire(accountId?: string): Permit | undefined;
  /** Whether the circuit is open for an account; without one, for any. */
  isOpen(accountId?: string): boolean;
  /** Milliseconds until {@link acquire} may give a permit; 0 when it does now. */
  waitMs(accountId?: string): number;
  /**
   * Opens the circuit until `force("closed")`, whatever its calls report and without probes; or closes it.
   * Requests without another route still get a permit by {@link forceAcquire}.
   */
  force(state: "open" | "closed"): void;
  /** Lets the next call of an open circuit be its probe. */
  probeNow(): void;
  /** Counts a failure of the host that a call with another key has met. */
  countFailure(): void;
  /** The accounts of one person that alone met the latest failures; `undefined` without such failures. */
  metOnlyBy(): readonly string[] | undefined;
  /** The number of permits whose call has not ended. */
  running(): number;
  status(): CircuitStatus;
}

/**
 * Returns a circuit that opens on consecutive failures and closes on one success of any call. A failure
 * counts only in the phase in which its call began: failures of calls from before the opening are ignored.
 */
export function createCircuit(options: CircuitOptions): Circuit {
  const { clock } = options;
  const phases = new Phases(options);
  let forced = 0;
  let running = 0;

  function onEnd(): void {
    running -= 1;
  }
  function onForcedEnd(): void {
    running -= 1;
    forced -= 1;
  }

  function acquire(accountId = NO_ACCOUNT): Permit | undefined {
    const phase = phases.current;
    const permit = new CircuitPermit(phases, accountId, onEnd);
    if (isOpenFor(phase, accountId) && !startProbe(phase, permit, clock())) return undefined;
    running += 1;
    return permit;
  }

  function forceAcquire(accountId = NO_ACCOUNT): Permit | undefined {
    const permit = acquire(accountId);
    if (permit || forced === FORCED_MAX) return permit;
    forced += 1;
    running += 1;
    return new CircuitPermit(phases, accountId, onForcedEnd);
  }

  return {
    acquire,
    forceAcquire,
    isOpen: (accountId) =>
      accountId === undefined ? phases.current.isOpen : isOpenFor(phases.current, accountId),
    waitMs(accountId = NO_ACCOUNT) {
      const phase = phases.current;
      return isOpenFor(phase, accountId) ? probeWaitMs(phase, clock()) : 0;
    },
    force(state) {
      if (state === "open") phases.open({ isForced: true });
      else if (phases.current.isOpen) phases.setClosed();
    },
    probeNow() {
      const phase = phases.current;
      if (phase.isOpen && !phase.isForced) phase.probeFromMs = clock();
    },
    countFailure: () => phases.countFailure(),
    metOnlyBy: () => phases.metOnlyBy(),
    running: () => running,
    status: () => statusOf(phases.current, clock(), running),
  };
}

/** While a probe runs, its failure would delay the next one by at least the present delay. */
function probeWaitMs({ latestProbe, probeFromMs, probeDelayMs }: Open, nowMs: number): number {
  const leftMs = Math.max(probeFromMs - nowMs, 0);
  return latestProbe && !latestProbe.isReported ? Math.min(leftMs, probeDelayMs) : leftMs;
}

/**
 * Returns whether the permit may probe. The next probe then waits for its outcome, or for too long a
 * silence.
 */
function startProbe(open: Open, permit: CircuitPermit, nowMs: number): boolean {
  if (nowMs < open.probeFromMs) return false;
  open.latestProbe = permit;
  open.probeFromMs = nowMs + PROBE_SILENCE_MAX_MS;
  return true;
}

function statusOf(phase: Phase, nowMs: number, running: number): CircuitStatus {
  if (!phase.isOpen) {
    const failures = phase.consecutiveFailures;
    return { state: "closed", isForced: false, isRejected: false, probeInMs: undefined, failures, running };
  }
  const { isForced, isRejected, latestProbe, probeFromMs } = phase;
  const isProbing = latestProbe !== undefined && !latestProbe.isReported;
  const isHalfOpen = !isForced && (isProbing || nowMs >= probeFromMs);
  const probeInMs = isForced ? undefined : Math.max(probeFromMs - nowMs, 0);
  const state = isHalfOpen ? "half_open" : "open";
  return { state, isForced, isRejected, probeInMs, failures: 0, running };
}
