import {
  type CircuitOptions,
  CircuitPermit,
  type CircuitStatus,
  isOpenFor,
  type Permit,
  type PermitReports,
  Phases,
  probeWaitMs,
  startProbe,
  statusOf,
} from "./circuit-phases.ts";

/** The account of calls without one. */
const NO_ACCOUNT = "";

/** Concurrent permits given by force, beside probes. */
const FORCED_MAX = 32;

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

  const reports: PermitReports = {
    began: (permit) => phases.close(permit),
    succeeded: (permit) => phases.succeed(permit),
    failed: (permit, isOfOnePerson) => phases.fail(permit, { isOfOnePerson }),
    hostFailed: (permit) => phases.fail(permit, { isOfHost: true }),
    rejected: (permit) => phases.fail(permit, { isRejected: true }),
    abandoned: (permit) => phases.abandon(permit),
    ended(isForced) {
      running -= 1;
      if (isForced) forced -= 1;
    },
  };

  function acquire(accountId = NO_ACCOUNT): Permit | undefined {
    const phase = phases.current;
    const permit = new CircuitPermit(phase, reports, accountId);
    if (isOpenFor(phase, accountId) && !startProbe(phase, permit, clock())) return undefined;
    running += 1;
    return permit;
  }

  function forceAcquire(accountId = NO_ACCOUNT): Permit | undefined {
    const permit = acquire(accountId);
    if (permit || forced === FORCED_MAX) return permit;
    forced += 1;
    running += 1;
    return new CircuitPermit(phases.current, reports, accountId, true);
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
