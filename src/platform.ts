import { randomBytes } from "node:crypto";

/**
 * Time and chance, as the machine gives them. All code takes them from here, so that a simulation can replace
 * them. A test finds uses of the machine's own.
 */
export interface Platform {
  /** Unix milliseconds of the wall clock, which may be set forward or back. */
  now(): number;
  /** Milliseconds of a clock that cannot be set. */
  monotonicMs(): number;
  setTimeout<Args extends unknown[]>(run: (...args: Args) => unknown, ms: number, ...args: Args): Timer;
  clearTimeout(timer: Timer | undefined): void;
  setInterval(run: () => unknown, ms: number): Timer;
  clearInterval(timer: Timer | undefined): void;
  /** Runs a function at the end of the event-loop turn. */
  setImmediate(run: () => unknown): unknown;
  sleep(ms: number): Promise<void>;
  /** A number from 0 to 1 (exclusive), not for secrets. */
  random(): number;
  /** Bytes that cannot be guessed. */
  randomBytes(count: number): Buffer;
  /** A UUIDv4, 36 characters. */
  uuid(): string;
  /** A UUIDv7 of this time in Unix milliseconds, 36 characters. */
  uuidV7(ms: number): string;
}

/** The platform in use: the machine's, unless a simulation has bound its own. */
export const platform: Platform = {
  now: Date.now,
  monotonicMs: () => performance.now(),
  setTimeout: (run, ms, ...args) => setTimeout(run, ms, ...args),
  clearTimeout: (timer) => clearTimeout(timer),
  setInterval: (run, ms) => setInterval(run, ms),
  clearInterval: (timer) => clearInterval(timer),
  setImmediate: (run) => setImmediate(run),
  sleep: (ms) => Bun.sleep(ms),
  random: Math.random,
  randomBytes: (count) => randomBytes(count),
  uuid: () => crypto.randomUUID(),
  uuidV7: (ms) => Bun.randomUUIDv7("hex", ms),
};

/**
 * Resolves with the awaited value, or with the result of `late` after `ms` milliseconds; `late` may throw.
 */
export async function within<Value, Late>(
  ms: number,
  awaited: Promise<Value>,
  late: () => Late,
): Promise<Value | Late> {
  const { promise: time, resolve } = Promise.withResolvers<void>();
  const timer = platform.setTimeout(resolve, ms);
  return Promise.race([awaited, time.then(late)]).finally(() => platform.clearTimeout(timer));
}

/** Resolves when the promise does, or after `ms` milliseconds. Rejects when the promise does before that. */
export async function waitAtMost(ms: number, awaited: Promise<unknown>): Promise<void> {
  await within(ms, awaited, () => undefined);
}

interface RepeatedWork {
  readonly everyMs: number;
  run(): Promise<unknown>;
  onFault(fault: unknown): void;
  /** Whether the first run begins at once. */
  readonly beginsNow?: boolean;
}

/**
 * Runs work at an interval until it is closed, never twice at once, and hands each fault to `onFault`. Keeps
 * no process alive. `close` resolves when a running run has ended.
 */
export function repeat({ everyMs, run, onFault, beginsNow }: RepeatedWork): { close(): Promise<void> } {
  let running: Promise<void> | undefined;
  const begin = () => {
    running ??= run()
      .then(() => undefined, onFault)
      .finally(() => {
        running = undefined;
      });
  };
  if (beginsNow) begin();
  const timer = platform.setInterval(begin, everyMs);
  timer.unref();
  return {
    async close() {
      platform.clearInterval(timer);
      await running;
    },
  };
}

interface Passes {
  /** Milliseconds from the end of a pass to the next one, jittered by ±20 % so that replicas spread. */
  readonly everyMs: number;
  /** Whether the first pause is at most a fifth of `everyMs`. */
  readonly beginsSoon?: boolean;
  /** Runs one pass. A long one looks at `signal`, which is aborted by `stop`. */
  run(signal: AbortSignal): Promise<unknown>;
  /** Called with the error of a failed pass. The next pass is scheduled nevertheless. */
  onError(error: unknown): void;
}

/** Runs passes of work with a jittered pause between them. `stop` resolves when a running pass is over. */
export function startPasses({ everyMs, beginsSoon = false, run, onError }: Passes): {
  stop(): Promise<void>;
} {
  const stopping = new AbortController();
  let running = Promise.resolve();
  let timer: Timer;

  const pass = async () => {
    await run(stopping.signal).catch(onError);
    if (!stopping.signal.aborted) schedule(everyMs * (0.8 + platform.random() * 0.4));
  };
  const schedule = (pauseMs: number) => {
    timer = platform.setTimeout(() => {
      running = pass();
    }, pauseMs);
  };

  schedule(everyMs * (beginsSoon ? platform.random() * 0.2 : 0.8 + platform.random() * 0.4));
  return {
    stop() {
      stopping.abort();
      platform.clearTimeout(timer);
      return running;
    },
  };
}

/** A deadline that a {@link SharedTimer} watches. */
export interface Deadline {
  /** Clock reading at which it passes. May move to a later time by itself; see {@link SharedTimer.tighten}. */
  dueAt(): number;
  /** Called once when it has passed; it is no longer watched then. */
  onDue(): void;
}

/**
 * One timer for many deadlines, because a timer of its own costs each request more than its watch. It is set
 * to the earliest deadline known. One that has moved to a later time is read again when the timer fires.
 */
export class SharedTimer {
  readonly #clock: () => number;
  readonly #deadlines = new Set<Deadline>();
  #timer: Timer | undefined;
  #timerAt = Infinity;

  /** `clock` returns milliseconds of a monotonic clock. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  add(deadline: Deadline): void {
    this.#deadlines.add(deadline);
    this.tighten(deadline.dueAt());
  }

  delete(deadline: Deadline): void {
    this.#deadlines.delete(deadline);
  }

  /** Must be called when a deadline has moved to an earlier time. */
  tighten(dueAt: number): void {
    if (dueAt >= this.#timerAt) return;
    platform.clearTimeout(this.#timer);
    this.#timerAt = dueAt;
    this.#timer = platform.setTimeout(() => this.#check(), Math.max(0, dueAt - this.#clock()));
    // Connections keep the process alive, deadlines do not.
    this.#timer.unref();
  }

  /** Settles like `awaited`, or rejects with the error of `late` after `ms` milliseconds. */
  limit<Value>(ms: number, awaited: Promise<Value>, late: () => Error): Promise<Value> {
    return new Promise((resolve, reject) => {
      const dueAt = this.#clock() + ms;
      const deadline: Deadline = { dueAt: () => dueAt, onDue: () => reject(late()) };
      this.add(deadline);
      awaited.then(
        (value) => {
          this.delete(deadline);
          resolve(value);
        },
        (fault: unknown) => {
          this.delete(deadline);
          reject(fault);
        },
      );
    });
  }

  #check(): void {
    this.#timerAt = Infinity;
    const now = this.#clock();
    let earliest = Infinity;
    for (const deadline of this.#deadlines) {
      const dueAt = deadline.dueAt();
      if (dueAt > now) earliest = Math.min(earliest, dueAt);
      else if (this.#deadlines.delete(deadline)) deadline.onDue();
    }
    this.tighten(earliest);
  }
}
