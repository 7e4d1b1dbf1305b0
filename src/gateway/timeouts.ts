import type { CallObserver, UpstreamTimeouts } from "../upstream/upstream.ts";
import type { AbortSource } from "./request.ts";

/** A time limit of an attempt; `deadline` is that of the whole request. */
export type Timeout = "connect" | "first_output" | "idle" | "total" | "deadline";

/** After its finish an upstream has at most a usage report and an end mark to send. */
const FINISH_MS_MAX = 10_000;

const ONCE = { once: true } as const;

/** The time limits of one attempt. Aborts it when a limit passes or an abort source fires. */
export interface AttemptTimeouts extends CallObserver {
  /** The limit that has passed. */
  readonly timedOut: Timeout | undefined;
  /** Whether a connection was made and handed the request's body. */
  readonly isSent: boolean;
  /** Records the beginning of the answer: from now on the idle limit applies. */
  began(): void;
  /** Records that bytes came from the upstream. */
  progress(): void;
  /** Records the finish of the answer: from now on silence may last 10 s at most. */
  finished(): void;
  /**
   * Waits for a client that reads slowly, or for the abort. The idle limit pauses meanwhile; the total does
   * not.
   */
  untilRead(room: Promise<void>): Promise<void>;
  /** Closes the connection to the upstream at once. */
  abort(): void;
  /** Stops all limits. A connection that was read to its end can be reused. */
  close(): void;
}

export interface TimeoutOptions {
  readonly timeouts: UpstreamTimeouts;
  /** A whole answer has no first-output limit: until it begins, only the total limit applies. */
  readonly stream: boolean;
  /** Clock reading. */
  readonly startedAt: number;
  /** Clock reading by which the request must be over, whatever the upstream's own limits are. */
  readonly deadlineAt: number;
  /** The client, the caller and the process: each of them aborts the attempt. */
  readonly abortSources: readonly AbortSource[];
  readonly clock: () => number;
}

/** Starts the limits of one attempt: first that of the connection, then first output, then idle. */
export function startTimeouts(options: TimeoutOptions): AttemptTimeouts {
  const { timeouts, stream, startedAt, deadlineAt, abortSources, clock } = options;
  const totalAt = Math.min(startedAt + timeouts.totalMs, deadlineAt);
  const firstOutputAt = stream ? startedAt + timeouts.firstOutputMs : totalAt;
  const controller = new AbortController();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let phase: Timeout = "connect";
  let connectingAt = startedAt;
  let progressAt = startedAt;
  let silenceMaxMs = timeouts.idleMs;
  let waitsForClient = false;
  let timedOut: Timeout | undefined;

  function phaseEndsAt(): number {
    if (phase === "connect") return Math.min(connectingAt + timeouts.connectMs, firstOutputAt);
    if (phase === "first_output") return firstOutputAt;
    return (waitsForClient ? clock() : progressAt) + silenceMaxMs;
  }
  const limitAt = () => Math.min(phaseEndsAt(), totalAt);
  const timer = startLimitTimer(limitAt, timeOut, clock);

  function timeOut(): void {
    if (phaseEndsAt() < totalAt) timedOut = phase;
    else timedOut = deadlineAt < startedAt + timeouts.totalMs ? "deadline" : "total";
    abort();
  }
  function enter(next: Timeout): void {
    phase = next;
    timer.tighten();
  }
  function abort(): void {
    controller.abort();
  }

  for (const source of abortSources) {
    source.addEventListener("abort", abort, ONCE);
    if (source.aborted) abort();
  }
  return {
    signal: controller.signal,
    ended,
    get timedOut() {
      return timedOut;
    },
    get isSent() {
      return phase !== "connect";
    },
    connecting: () => {
      connectingAt = clock();
      enter("connect");
    },
    connected: () => {
      // An answer may begin before its call is sent whole.
      if (phase === "connect") enter("first_output");
    },
    began: () => {
      if (phase === "idle") return;
      progressAt = clock();
      enter("idle");
    },
    progress: () => {
      progressAt = clock();
    },
    finished: () => {
      silenceMaxMs = Math.min(timeouts.idleMs, FINISH_MS_MAX);
      enter("idle");
    },
    async untilRead(room) {
      waitsForClient = true;
      await untilAborted(controller.signal, room);
      waitsForClient = false;
      progressAt = clock();
    },
    abort,
    close: () => {
      end();
      timer.stop();
      for (const source of abortSources) source.removeEventListener("abort", abort);
    },
  };
}

/** Waits for a promise, but not beyond an abort. Removes its listener: a long stream waits many times. */
async function untilAborted(signal: AbortSignal, awaited: Promise<void>): Promise<void> {
  if (signal.aborted) return;
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const giveUp = () => resolve();
  signal.addEventListener("abort", giveUp, ONCE);
  await Promise.race([awaited, aborted]);
  signal.removeEventListener("abort", giveUp);
}

/** One timer for a limit that moves. */
interface LimitTimer {
  /** Must be called when the limit may have moved to an earlier time. */
  tighten(): void;
  stop(): void;
}

/**
 * Calls `onDue` once, when the limit has passed. Moving the limit to a later time touches no timer: when the
 * timer fires, it reads the limit again and waits for the rest.
 */
function startLimitTimer(limitAt: () => number, onDue: () => void, clock: () => number): LimitTimer {
  let timer: ReturnType<typeof setTimeout>;
  let timerAt: number;

  function arm(): void {
    timerAt = limitAt();
    timer = setTimeout(check, Math.max(0, timerAt - clock()));
  }
  function check(): void {
    if (clock() < limitAt()) arm();
    else onDue();
  }

  arm();
  return {
    tighten() {
      if (limitAt() >= timerAt) return;
      clearTimeout(timer);
      arm();
    },
    stop: () => clearTimeout(timer),
  };
}
