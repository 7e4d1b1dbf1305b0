/** How long a circuit that has just opened lets nobody through; each probe that fails doubles it, to the second. */
const PAUSE_MIN_MS = 1000;
const PAUSE_MAX_MS = 30_000;

/** A probe that has told nothing for so long no longer keeps the next one waiting. */
const PROBE_SILENCE_MAX_MS = 30_000;

/** A probe that lives so much longer than what failed before it did not meet the same fault. */
const OUTLIVED_MS = 1000;

/** One attempt at an upstream. The first of the three that is called counts; whoever began it calls one, always. */
export interface Trial {
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
  begin(): Trial | undefined;
}

export interface CircuitOptions {
  /** So many failed trials in a row open it. */
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
  /** How long the slowest of them took. */
  slowestMs: number;
}

/** Only probes are let through, from `probeFromMs` on. */
interface Open {
  readonly isOpen: true;
  pauseMs: number;
  probeFromMs: number;
  /** How long the slowest failure took that opened it, or that a probe met. */
  slowestMs: number;
  /** The one begun last. */
  probe: Attempt | undefined;
}

interface Attempt {
  readonly begunIn: Phase;
  readonly begunMs: number;
  isTold: boolean;
}

/**
 * A circuit that opens on failures in a row and closes on one success, whenever that attempt began, or on a
 * probe that outlives those failures: a whole answer may take a minute, and tells nothing before its end. A
 * failure counts only in the phase it began in: of hundreds under way when an upstream dies, those that fail
 * after the circuit has opened are no news.
 */
export function createCircuit({ failuresMax, clock, onChange }: CircuitOptions): Circuit {
  let phase: Phase = newlyClosed();

  function succeed(): void {
    const wasOpen = phase.isOpen;
    if (phase.isOpen) phase = newlyClosed();
    else Object.assign(phase, newlyClosed());
    if (wasOpen) onChange?.(false);
  }

  function fail(attempt: Attempt): void {
    if (attempt.begunIn !== phase) return;
    const nowMs = clock();
    if (phase.isOpen) {
      failProbe(phase, attempt, nowMs);
      return;
    }
    phase.failures += 1;
    phase.slowestMs = Math.max(phase.slowestMs, nowMs - attempt.begunMs);
    if (phase.failures < failuresMax) return;
    phase = newlyOpen(phase, nowMs);
    onChange?.(true);
  }

  function abandon(attempt: Attempt): void {
    if (phase.isOpen && phase.probe === attempt) phase.probeFromMs = clock();
  }

  return {
    begin() {
      const begunMs = clock();
      if (phase.isOpen && isOutlived(phase, begunMs)) succeed();
      const attempt: Attempt = { begunIn: phase, begunMs, isTold: false };
      if (phase.isOpen && !startProbe(phase, attempt)) return undefined;
      return {
        succeeded: () => tell(attempt, succeed),
        failed: () => tell(attempt, fail),
        abandoned: () => tell(attempt, abandon),
      };
    },
  };
}

function newlyClosed(): Closed {
  return { isOpen: false, failures: 0, slowestMs: 0 };
}

function newlyOpen({ slowestMs }: Closed, nowMs: number): Open {
  const pauseMs = PAUSE_MIN_MS;
  return { isOpen: true, pauseMs, probeFromMs: nowMs + pauseMs, slowestMs, probe: undefined };
}

function tell(attempt: Attempt, effect: (attempt: Attempt) => void): void {
  if (attempt.isTold) return;
  attempt.isTold = true;
  effect(attempt);
}

/** Whether the attempt may probe; then the next one waits for its end, or for its silence to grow too long. */
function startProbe(open: Open, attempt: Attempt): boolean {
  if (attempt.begunMs < open.probeFromMs) return false;
  open.probe = attempt;
  open.probeFromMs = attempt.begunMs + PROBE_SILENCE_MAX_MS;
  return true;
}

function isOutlived({ probe, slowestMs }: Open, nowMs: number): boolean {
  return probe !== undefined && !probe.isTold && nowMs - probe.begunMs >= slowestMs + OUTLIVED_MS;
}

/** A probe that another has overtaken says nothing new. */
function failProbe(open: Open, attempt: Attempt, nowMs: number): void {
  if (open.probe !== attempt) return;
  open.slowestMs = Math.max(open.slowestMs, nowMs - attempt.begunMs);
  open.pauseMs = Math.min(open.pauseMs * 2, PAUSE_MAX_MS);
  open.probeFromMs = nowMs + open.pauseMs;
}
