import type { UpstreamTimeouts } from "../upstream/upstream.ts";

/** Which of an upstream's time limits has passed. */
export type Timeout = "first_output" | "idle" | "total";

/** Watches one attempt: aborts it when the client hangs up or a time limit passes. */
export interface Watch {
  /** For the upstream call. */
  readonly signal: AbortSignal;
  readonly timedOut: Timeout | undefined;
  /** Something came from the upstream. */
  progress(): void;
  /** The first output came: from now on silence is measured. */
  output(): void;
  /** Waits for a client that reads slowly: no silence of the upstream, but over when the attempt is. */
  untilRead(room: Promise<void>): Promise<void>;
  /** Closes the connection to the upstream at once. */
  abort(): void;
  /** Ends the watch; a connection that was read to its end can be used again. */
  close(): void;
}

export interface WatchOptions {
  readonly timeouts: UpstreamTimeouts;
  /** A whole answer has no first output to wait for: only its total time counts. */
  readonly stream: boolean;
  /** Milliseconds the request has already used up. */
  readonly elapsedMs: number;
  readonly clientSignal: AbortSignal;
  readonly clock: () => number;
}

/**
 * From the first output on the limit only ever moves later, so one timer is enough: it looks at the
 * nearest limit when it fires and is set again if that has moved. Nothing is set or cleared per chunk.
 */
export function watchAttempt(options: WatchOptions): Watch {
  const { timeouts, clientSignal, clock } = options;
  const startedAt = clock();
  const totalAt = startedAt + timeouts.totalMs - options.elapsedMs;
  const controller = new AbortController();
  let progressAt = startedAt;
  let waitsForOutput = options.stream;
  let waitsForClient = false;
  let timedOut: Timeout | undefined;
  let timer: ReturnType<typeof setTimeout>;

  function nearest(): { kind: Timeout; at: number } {
    const silence = waitsForOutput
      ? { kind: "first_output" as const, at: startedAt + timeouts.firstOutputMs }
      : { kind: "idle" as const, at: (waitsForClient ? clock() : progressAt) + timeouts.idleMs };
    const mayBeSilent = !options.stream || silence.at >= totalAt;
    return mayBeSilent ? { kind: "total", at: totalAt } : silence;
  }
  function arm(): void {
    timer = setTimeout(check, Math.max(0, nearest().at - clock()));
  }
  function check(): void {
    const { kind, at } = nearest();
    if (clock() < at) {
      arm();
      return;
    }
    timedOut = kind;
    abort();
  }
  function abort(): void {
    controller.abort();
  }
  async function untilRead(room: Promise<void>): Promise<void> {
    waitsForClient = true;
    await untilAborted(controller.signal, room);
    waitsForClient = false;
    progressAt = clock();
  }

  arm();
  clientSignal.addEventListener("abort", abort, { once: true });
  if (clientSignal.aborted) abort();
  return {
    signal: controller.signal,
    get timedOut() {
      return timedOut;
    },
    progress: () => {
      progressAt = clock();
    },
    output: () => {
      if (!waitsForOutput) return;
      waitsForOutput = false;
      clearTimeout(timer);
      arm();
    },
    untilRead,
    abort,
    close: () => {
      clearTimeout(timer);
      clientSignal.removeEventListener("abort", abort);
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
