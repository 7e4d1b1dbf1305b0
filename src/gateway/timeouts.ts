import type { CallObserver, UpstreamTimeouts } from "../upstream/upstream.ts";
import { startLimitTimer } from "./limit-timer.ts";

/** Which of an attempt's time limits has passed; the deadline is the whole request's. */
export type Timeout = "connect" | "first_output" | "idle" | "total" | "deadline";

/** After its finish an upstream has a usage or an end mark to say, if anything. */
const FINISH_MS_MAX = 10_000;

/** Watches one attempt: aborts it when somebody wants it ended or a time limit passes. */
export interface Watch extends CallObserver {
  readonly timedOut: Timeout | undefined;
  /** Whether a connection stands and was handed the request's body. */
  readonly isSent: boolean;
  /** The answer began: from now on silence is measured. */
  began(): void;
  /** Something came from the upstream. */
  progress(): void;
  /** The answer said its finish: what may come behind it is not waited for for long. */
  finished(): void;
  /** Waits for a client that reads slowly: no silence of the upstream, but over when the attempt is. */
  untilRead(room: Promise<void>): Promise<void>;
  /** Closes the connection to the upstream at once. */
  abort(): void;
  /** Ends the watch; a connection that was read to its end can be used again. */
  close(): void;
}

export interface WatchOptions {
  readonly timeouts: UpstreamTimeouts;
  /** A whole answer has no first output to wait for: until it begins, only its total time counts. */
  readonly stream: boolean;
  /** Clock reading. */
  readonly startedAt: number;
  /** Clock reading by which the request must be over, whatever this upstream's own limits are. */
  readonly deadlineAt: number;
  /** Each of them ends the attempt: the client's, the process's. */
  readonly enders: readonly AbortSignal[];
  readonly clock: () => number;
}

/** Starts with the connection; see {@link Timeout} for what may then take too long. */
export function watchAttempt(options: WatchOptions): Watch {
  const { timeouts, stream, startedAt, deadlineAt, enders, clock } = options;
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

  for (const ender of enders) {
    ender.addEventListener("abort", abort, { once: true });
    if (ender.aborted) abort();
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
      // An answer may even come before its call is sent whole.
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
      for (const ender of enders) ender.removeEventListener("abort", abort);
    },
  };
}

/** Waits for something, but not beyond an abort. Leaves no listener behind: a signal may see many waits. */
async function untilAborted(signal: AbortSignal, awaited: Promise<void>): Promise<void> {
  if (signal.aborted) return;
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const giveUp = () => resolve();
  signal.addEventListener("abort", giveUp, { once: true });
  await Promise.race([awaited, aborted]);
  signal.removeEventListener("abort", giveUp);
}
