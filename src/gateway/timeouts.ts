import type { Deadline, SharedTimer } from "../platform.ts";
import type { CallObserver, UpstreamTimeouts } from "../upstream/upstream.ts";
import type { AbortSource } from "./request.ts";

/** A time limit of an attempt; `deadline` is that of the whole request. */
export type Timeout = "connect" | "first_output" | "idle" | "total" | "deadline";

/** After its finish an upstream has at most a usage report and an end mark to send. */
const FINISH_MS_MAX = 10_000;

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
  /** Watches the limits; of the same clock. */
  readonly timer: SharedTimer;
}

/**
 * The time limits of one attempt: first that of the connection, then first output, then idle. Aborts the
 * attempt when a limit passes or an abort source fires.
 */
export class AttemptTimeouts implements CallObserver, Deadline {
  readonly #options: TimeoutOptions;
  readonly #controller = new AbortController();
  readonly #abort = () => this.abort();
  readonly #totalAt: number;
  readonly #firstOutputAt: number;
  #phase: Timeout = "connect";
  #connectingAt: number;
  #progressAt: number;
  #silenceMaxMs: number;
  #waitsForClient = false;
  #timedOut: Timeout | undefined;
  #onEnded: (() => void) | undefined;

  constructor(options: TimeoutOptions) {
    const { timeouts, stream, startedAt, deadlineAt, abortSources, timer } = options;
    this.#options = options;
    this.#totalAt = Math.min(startedAt + timeouts.totalMs, deadlineAt);
    this.#firstOutputAt = stream ? startedAt + timeouts.firstOutputMs : this.#totalAt;
    this.#connectingAt = startedAt;
    this.#progressAt = startedAt;
    this.#silenceMaxMs = timeouts.idleMs;
    for (const source of abortSources) {
      source.addEventListener("abort", this.#abort);
      if (source.aborted) this.abort();
    }
    timer.add(this);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The limit that has passed. */
  get timedOut(): Timeout | undefined {
    return this.#timedOut;
  }

  /** Whether a connection was handed the request's body. */
  get isSent(): boolean {
    return this.#phase !== "connect";
  }

  onEnded(listener: () => void): void {
    this.#onEnded = listener;
  }

  connecting(): void {
    this.#connectingAt = this.#options.clock();
    this.#enter("connect");
  }

  connected(): void {
    // An answer may begin before its call is sent whole.
    if (this.#phase === "connect") this.#phase = "first_output";
  }

  unreachable(): void {
    if (this.#phase !== "first_output") return;
    this.#phase = "connect";
    this.#timedOut = "connect";
    this.abort();
  }

  /** Records the beginning of the answer: from now on the idle limit applies. */
  began(): void {
    if (this.#phase === "idle") return;
    this.progress();
    this.#enter("idle");
  }

  /** Records that bytes came from the upstream. */
  progress(): void {
    this.#progressAt = this.#options.clock();
  }

  /** Records the finish of the answer: from now on silence may last 10 s at most. */
  finished(): void {
    this.#silenceMaxMs = Math.min(this.#options.timeouts.idleMs, FINISH_MS_MAX);
    this.#enter("idle");
  }

  /**
   * Waits for a client that reads slowly, or for the abort. The idle limit pauses meanwhile; the total does
   * not.
   */
  async untilRead(room: Promise<void>): Promise<void> {
    this.#waitsForClient = true;
    await untilAborted(this.signal, room);
    this.#waitsForClient = false;
    this.progress();
  }

  /** Closes the connection to the upstream at once. */
  abort(): void {
    this.#controller.abort();
  }

  /** Stops all limits. A connection that was read to its end can be reused. */
  close(): void {
    const { timer, abortSources } = this.#options;
    timer.delete(this);
    for (const source of abortSources) source.removeEventListener("abort", this.#abort);
    this.#onEnded?.();
    this.#onEnded = undefined;
  }

  dueAt(): number {
    return Math.min(this.#phaseEndsAt(), this.#totalAt);
  }

  onDue(): void {
    const { startedAt, deadlineAt, timeouts } = this.#options;
    if (this.#phaseEndsAt() < this.#totalAt) this.#timedOut = this.#phase;
    else this.#timedOut = deadlineAt < startedAt + timeouts.totalMs ? "deadline" : "total";
    this.abort();
  }

  #phaseEndsAt(): number {
    const { timeouts, clock } = this.#options;
    if (this.#phase === "connect") {
      return Math.min(this.#connectingAt + timeouts.connectMs, this.#firstOutputAt);
    }
    if (this.#phase === "first_output") return this.#firstOutputAt;
    return (this.#waitsForClient ? clock() : this.#progressAt) + this.#silenceMaxMs;
  }

  #enter(phase: Timeout): void {
    this.#phase = phase;
    this.#options.timer.tighten(this.dueAt());
  }
}

/** Waits for a promise, but not beyond an abort. Removes its listener: a long stream waits many times. */
async function untilAborted(signal: AbortSignal, awaited: Promise<void>): Promise<void> {
  if (signal.aborted) return;
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const giveUp = () => resolve();
  signal.addEventListener("abort", giveUp);
  await Promise.race([awaited, aborted]);
  signal.removeEventListener("abort", giveUp);
}
