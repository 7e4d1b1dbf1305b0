/** How long a circuit that has just opened lets nobody through; each probe that fails doubles it, to the second. */
const PAUSE_MIN_MS = 1000;
const PAUSE_MAX_MS = 30_000;

/** A probe that has told nothing for so long no longer keeps the next one waiting. */
const PROBE_SILENCE_MAX_MS = 30_000;

/** So many may be tried at a time at an open circuit by those who have no other route. */
const INSISTING_MAX = 32;

/** One attempt at an upstream. The first of its three ends that is called counts; whoever began it calls one, always. */
export interface Permit {
  /** An answer has begun, which closes an open circuit; how it ended is told when it has. */
  began(): void;
  /** The upstream works. */
  succeeded(): void;
  /** The upstream does not work, and that was not the request's fault. */
  failed(): void;
  /** It ended before the upstream showed either. */
  abandoned(): void;
}

/** Keeps requests from an upstream that fails, but for a single probe now and then. */
export interface Circuit {
  /** Begins an attempt; `undefined` while the circuit is open, or half-open with its probe under way. */
  acquire(): Permit | undefined;
  /** The same for who has nowhere else to go: `undefined` only when many do so at a time. */
  forceAcquire(): Permit | undefined;
  /** For who wants to know and not to try. */
  isOpen(): boolean;
  /** Milliseconds until {@link acquire} lets somebody through; 0 when it does now. */
  waitMs(): number;
}

export interface CircuitOptions {
  /** So many failed permits in a row open it. */
  readonly failuresMax: number;
  /** Milliseconds that only ever rise. */
  readonly clock: () => number;
  /** Told when it opens and when it closes, not of a probe that failed. */
  readonly onChange?: (isOpen: boolean) => void;
}

/** From one opening or closing to the next. */
type Phase = Closed | Open;

/** Everybody is let through. */
interface Closed {
  readonly isOpen: false;
  /** In a row. */
  failures: number;
}

/** Only probes are let through, from `probeFromMs` on. */
interface Open {
  readonly isOpen: true;
  pauseMs: number;
  probeFromMs: number;
  /** The one begun last. */
  probe: Attempt | undefined;
}

interface Attempt {
  readonly begunIn: Phase;
  isTold: boolean;
}

/**
 * A circuit that opens on failures in a row and closes on one success, whenever that attempt began. A failure
 * counts only in the phase it began in: of hundreds under way when an upstream dies, those that fail after the
 * circuit has opened are no news.
 */
export function createCircuit({ failuresMax, clock, onChange }: CircuitOptions): Circuit {
  let phase: Phase = { isOpen: false, failures: 0 };
  let insisting = 0;

  function close(): void {
    if (!phase.isOpen) return;
    phase = { isOpen: false, failures: 0 };
    onChange?.(false);
  }

  function succeed(): void {
    if (phase.isOpen) close();
    else phase.failures = 0;
  }

  function fail(attempt: Attempt): void {
    if (attempt.begunIn !== phase) return;
    if (phase.isOpen) {
      failProbe(phase, attempt, clock());
      return;
    }
    phase.failures += 1;
    if (phase.failures < failuresMax) return;
    phase = { isOpen: true, pauseMs: PAUSE_MIN_MS, probeFromMs: clock() + PAUSE_MIN_MS, probe: undefined };
    onChange?.(true);
  }

  function abandon(attempt: Attempt): void {
    if (phase.isOpen && phase.probe === attempt) phase.probeFromMs = clock();
  }

  function trialOf(attempt: Attempt, onTold: () => void = () => {}): Permit {
    const tell = (effect: (attempt: Attempt) => void) => {
      if (attempt.isTold) return;
      attempt.isTold = true;
      effect(attempt);
      onTold();
    };
    return {
      began: close,
      succeeded: () => tell(succeed),
      failed: () => tell(fail),
      abandoned: () => tell(abandon),
    };
  }

  function acquire(): Permit | undefined {
    const attempt: Attempt = { begunIn: phase, isTold: false };
    return phase.isOpen && !startProbe(phase, attempt, clock()) ? undefined : trialOf(attempt);
  }

  function forceAcquire(): Permit | undefined {
    const permit = acquire();
    if (permit || insisting === INSISTING_MAX) return permit;
    insisting += 1;
    return trialOf({ begunIn: phase, isTold: false }, () => {
      insisting -= 1;
    });
  }

  return {
    acquire,
    forceAcquire,
    isOpen: () => phase.isOpen,
    waitMs: () => (phase.isOpen ? untilProbe(phase, clock()) : 0),
  };
}

/** While a probe is under way, its failure would come with a pause at least as long as the present one. */
function untilProbe({ probe, probeFromMs, pauseMs }: Open, nowMs: number): number {
  const leftMs = Math.max(probeFromMs - nowMs, 0);
  return probe && !probe.isTold ? Math.min(leftMs, pauseMs) : leftMs;
}

/** Whether the attempt may probe; then the next one waits for its end, or for its silence to grow too long. */
function startProbe(open: Open, attempt: Attempt, nowMs: number): boolean {
  if (nowMs < open.probeFromMs) return false;
  open.probe = attempt;
  open.probeFromMs = nowMs + PROBE_SILENCE_MAX_MS;
  return true;
}

/** A probe that another has overtaken says nothing new, and who insisted was no probe. */
function failProbe(open: Open, attempt: Attempt, nowMs: number): void {
  if (open.probe !== attempt) return;
  open.pauseMs = Math.min(open.pauseMs * 2, PAUSE_MAX_MS);
  open.probeFromMs = nowMs + open.pauseMs;
}
