/** Time from opening to the first probe. Each failed probe doubles it, up to the maximum. */
const PROBE_DELAY_MIN_MS = 1000;
const PROBE_DELAY_MAX_MS = 30_000;

/** The delays of a rejected key, which only its owner can repair. */
const REJECTED_DELAY_MIN_MS = 60_000;
const REJECTED_DELAY_MAX_MS = 600_000;

/** A probe without an outcome after this time no longer delays the next one. */
const PROBE_SILENCE_MAX_MS = 30_000;

/** Concurrent permits given by force, beside probes. */
const FORCED_MAX = 32;

/**
 * The right to call an upstream once. Its holder must report one of four outcomes: `succeeded`, `failed`,
 * `rejected` or `abandoned`. Only the first report counts.
 */
export interface Permit {
  /** The response has begun. Closes an open circuit; the outcome is still to be reported. */
  began(): void;
  /** The upstream works. */
  succeeded(): void;
  /** The upstream does not work, for a reason other than the request. */
  failed(): void;
  /** The upstream rejected the key. Opens the circuit at once: it is probed after 1 to 10 minutes. */
  rejected(): void;
  /** The call ended before the upstream showed whether it works. */
  abandoned(): void;
}

/** Withholds calls from a failing upstream, except for single probes. */
export interface Circuit {
  /** Returns a permit; `undefined` while the circuit is open, or half-open with a running probe. */
  acquire(): Permit | undefined;
  /** Like {@link acquire}, but also while open, for requests without another route. At most 32 at a time. */
  forceAcquire(): Permit | undefined;
  isOpen(): boolean;
  /** Milliseconds until {@link acquire} may give a permit; 0 when it does now. */
  waitMs(): number;
  /**
   * Opens the circuit until `force("closed")`, whatever its calls report and without probes; or closes it.
   * Requests without another route still get a permit by {@link forceAcquire}.
   */
  force(state: "open" | "closed"): void;
  /** Lets the next call of an open circuit be its probe. */
  probeNow(): void;
  /** Counts a failure of the host that a call with another key has met. */
  countFailure(): void;
  /** The number of permits whose call has not ended. */
  running(): number;
  status(): CircuitStatus;
}

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

export interface CircuitOptions {
  /** Consecutive failures that open the circuit. */
  readonly failuresMax: number;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
  /** Called when the circuit opens or closes, and when the key of an open one is rejected. */
  readonly onChange?: (isOpen: boolean, isRejected: boolean) => void;
}

/** The time between two changes of the circuit. */
type Phase = Closed | Open;

/** Every call gets a permit. */
interface Closed {
  readonly isOpen: false;
  consecutiveFailures: number;
}

/** Only probes get a permit, from `probeFromMs` on. */
interface Open {
  readonly isOpen: true;
  probeDelayMs: number;
  probeFromMs: number;
  latestProbe: CircuitPermit | undefined;
  /** Opened by an operator. Only an operator closes it. */
  readonly isForced: boolean;
  /** Opened by a rejected key. Only a call that began since then closes it: older ones prove nothing. */
  readonly isRejected: boolean;
}

/**
 * Returns a circuit that opens on consecutive failures and closes on one success of any call. A failure
 * counts only in the phase in which its call began: failures of calls from before the opening are ignored.
 */
export function createCircuit({ failuresMax, clock, onChange }: CircuitOptions): Circuit {
  let phase: Phase = { isOpen: false, consecutiveFailures: 0 };
  let forced = 0;
  let running = 0;

  function close(permit: CircuitPermit): void {
    if (!phase.isOpen || phase.isForced) return;
    if (!phase.isRejected || permit.phase === phase) setClosed();
  }

  function setClosed(): void {
    phase = { isOpen: false, consecutiveFailures: 0 };
    onChange?.(false, false);
  }

  function open({ isForced = false, isRejected = false }): void {
    const wasOpen = phase.isOpen;
    const probeDelayMs = isRejected ? REJECTED_DELAY_MIN_MS : PROBE_DELAY_MIN_MS;
    const probeFromMs = isForced ? Number.POSITIVE_INFINITY : clock() + probeDelayMs;
    phase = { isOpen: true, probeDelayMs, probeFromMs, latestProbe: undefined, isForced, isRejected };
    if (!wasOpen || isRejected) onChange?.(true, isRejected);
  }

  function countFailure(): void {
    if (phase.isOpen) return;
    phase.consecutiveFailures += 1;
    if (phase.consecutiveFailures >= failuresMax) open({});
  }

  function fail(permit: CircuitPermit, isRejected: boolean): void {
    if (permit.phase !== phase) return;
    if (isRejected && !(phase.isOpen && (phase.isForced || phase.isRejected))) open({ isRejected });
    else if (phase.isOpen) failProbe(phase, permit, clock());
    else countFailure();
  }

  const reports: PermitReports = {
    began: close,
    succeeded(permit) {
      if (phase.isOpen) close(permit);
      else phase.consecutiveFailures = 0;
    },
    failed: (permit) => fail(permit, false),
    rejected: (permit) => fail(permit, true),
    abandoned(permit) {
      if (phase.isOpen && phase.latestProbe === permit) phase.probeFromMs = clock();
    },
    ended(isForced) {
      running -= 1;
      if (isForced) forced -= 1;
    },
  };

  function acquire(): Permit | undefined {
    const permit = new CircuitPermit(phase, reports);
    if (phase.isOpen && !startProbe(phase, permit, clock())) return undefined;
    running += 1;
    return permit;
  }

  function forceAcquire(): Permit | undefined {
    const permit = acquire();
    if (permit || forced === FORCED_MAX) return permit;
    forced += 1;
    running += 1;
    return new CircuitPermit(phase, reports, true);
  }

  return {
    acquire,
    forceAcquire,
    isOpen: () => phase.isOpen,
    waitMs: () => (phase.isOpen ? probeWaitMs(phase, clock()) : 0),
    force(state) {
      if (state === "open") open({ isForced: true });
      else if (phase.isOpen) setClosed();
    },
    probeNow() {
      if (phase.isOpen && !phase.isForced) phase.probeFromMs = clock();
    },
    countFailure,
    running: () => running,
    status: () => statusOf(phase, clock(), running),
  };
}

/** What a permit reports to its circuit. */
interface PermitReports {
  began(permit: CircuitPermit): void;
  succeeded(permit: CircuitPermit): void;
  failed(permit: CircuitPermit): void;
  rejected(permit: CircuitPermit): void;
  abandoned(permit: CircuitPermit): void;
  /** A call ended; `isForced` when its permit was given by force. */
  ended(isForced: boolean): void;
}

class CircuitPermit implements Permit {
  /** The phase in which the call began. */
  readonly phase: Phase;
  isReported = false;
  readonly #reports: PermitReports;
  readonly #isForced: boolean;

  constructor(phase: Phase, reports: PermitReports, isForced = false) {
    this.phase = phase;
    this.#reports = reports;
    this.#isForced = isForced;
  }

  began(): void {
    this.#reports.began(this);
  }

  succeeded(): void {
    if (this.#report()) this.#reports.succeeded(this);
  }

  failed(): void {
    if (this.#report()) this.#reports.failed(this);
  }

  rejected(): void {
    if (this.#report()) this.#reports.rejected(this);
  }

  abandoned(): void {
    if (this.#report()) this.#reports.abandoned(this);
  }

  /** Returns whether this is the first report. */
  #report(): boolean {
    if (this.isReported) return false;
    this.isReported = true;
    this.#reports.ended(this.#isForced);
    return true;
  }
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

/** Ignores probes other than the latest one, and calls with a forced permit. */
function failProbe(open: Open, permit: CircuitPermit, nowMs: number): void {
  if (open.latestProbe !== permit) return;
  const delayMaxMs = open.isRejected ? REJECTED_DELAY_MAX_MS : PROBE_DELAY_MAX_MS;
  open.probeDelayMs = Math.min(open.probeDelayMs * 2, delayMaxMs);
  open.probeFromMs = nowMs + open.probeDelayMs;
}
