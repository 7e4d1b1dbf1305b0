import { drainMicrotasks } from "bun:jsc";
import { type Platform, platform } from "../../src/platform.ts";
import { createDraw, type RandomSource } from "../support/seeded-random.ts";

/** A simulated machine. Its timers and its connections end with it. */
export interface Machine {
  readonly name: string;
  isAlive: boolean;
}

interface ScheduledEvent {
  atMs: number;
  readonly order: number;
  readonly machine: Machine;
  /** Says in the trace what happens. */
  readonly label: string;
  readonly run: () => unknown;
  isCancelled: boolean;
}

/** Characters that are hashed at once. */
const LINES_MAX = 16_384;

/** 2026-01-01, a Thursday. */
const STARTED_AT_MS = Date.UTC(2026, 0, 1);

export interface SchedulerOptions {
  readonly seed: number;
  /** Called with each line of the trace. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/**
 * Owns time, order and chance of a simulation. Events run one after another, each with all its microtasks, so that
 * the seed decides everything. Simulated time passes between events only.
 */
export class Scheduler {
  /** Chance of the simulated world. The machines draw from another sequence. */
  readonly draw: RandomSource;
  /** The machine whose event is running. */
  current: Machine;
  /** The number of events that ran. */
  steps = 0;
  monotonicMs = 0;
  /** How far the wall clock was set forward or back. */
  shiftMs = 0;
  readonly #events = new EventHeap();
  readonly #trace = new Bun.CryptoHasher("sha256");
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #machineDraw: RandomSource;
  /** Lines of the trace that its digest does not have yet. */
  #lines = "";
  #printedMs = -1;
  #printed = "";
  #order = 0;
  #ids = 0;

  constructor({ seed, onLine }: SchedulerOptions, world: Machine) {
    this.draw = createDraw("world", seed);
    this.#machineDraw = createDraw("machines", seed);
    this.#onLine = onLine;
    this.current = world;
  }

  /** Unix milliseconds of the machines' wall clock. */
  wallMs(): number {
    return Math.floor(STARTED_AT_MS + this.monotonicMs + this.shiftMs);
  }

  /** Schedules an event of the current machine, or of another one. Returns a function that cancels it. */
  after(ms: number, label: string, run: () => unknown, machine = this.current): () => void {
    const atMs = this.monotonicMs + Math.max(0, ms);
    const event = { atMs, order: this.#order++, machine, label, run, isCancelled: false };
    this.#events.push(event);
    return () => {
      event.isCancelled = true;
    };
  }

  /** Resolves after simulated time, on the current machine or another one. */
  sleep(ms: number, label = "goes on", machine = this.current): Promise<void> {
    return new Promise((resolve) => this.after(ms, label, resolve, machine));
  }

  /** Lets time pass in which no machine runs, as while it is suspended. Timers that were due fire afterwards. */
  suspend(ms: number): void {
    this.note(`all machines are suspended for ${Math.round(ms)} ms`);
    this.monotonicMs += ms;
  }

  /**
   * Lets time pass over polls that change nothing: what is due within `pollMs` stays as far ahead as it was. Ends
   * before anything else is due.
   */
  skip(ms: number, pollMs: number): void {
    const isPoll = ({ atMs }: ScheduledEvent) => atMs <= this.monotonicMs + pollMs;
    const events = this.#events
      .takeAll()
      .filter(({ isCancelled, machine }) => !isCancelled && machine.isAlive);
    const others = events.filter((event) => !isPoll(event)).map(({ atMs }) => atMs - pollMs);
    const passedMs = Math.max(0, Math.min(ms, Math.min(...others) - this.monotonicMs));
    for (const event of events) {
      if (isPoll(event)) event.atMs += passedMs;
      this.#events.push(event);
    }
    this.note(`${Math.round(passedMs)} ms pass in which nothing changes`);
    this.monotonicMs += passedMs;
  }

  /** Adds a line to the trace. Equal seeds give equal traces. */
  note(text: string): void {
    const line = `${this.steps} ${this.#now()} ${this.current.name}: ${text}`;
    this.#lines += line;
    if (this.#lines.length > LINES_MAX) this.#hashLines();
    this.#onLine?.(line);
  }

  /** The digest of the trace so far, in hex. */
  digest(): string {
    this.#hashLines();
    return this.#trace.copy().digest("hex");
  }

  /** Runs the next event with its microtasks. Returns false when no event is left. */
  step(): boolean {
    const event = this.#events.pop();
    if (!event) return false;
    if (event.isCancelled || !event.machine.isAlive) return true;
    this.steps += 1;
    this.monotonicMs = Math.max(this.monotonicMs, event.atMs);
    this.current = event.machine;
    this.note(event.label);
    event.run();
    drainMicrotasks();
    return true;
  }

  /** Makes this scheduler the platform of all code. Returns a function that gives the machine's own back. */
  bind(): () => void {
    const own = { ...platform };
    Object.assign(platform, this.#platform());
    return () => void Object.assign(platform, own);
  }

  #hashLines(): void {
    this.#trace.update(this.#lines);
    this.#lines = "";
  }

  /** Simulated milliseconds in words, printed once for all lines of one moment. */
  #now(): string {
    if (this.monotonicMs !== this.#printedMs) {
      this.#printedMs = this.monotonicMs;
      this.#printed = this.monotonicMs.toFixed(3);
    }
    return this.#printed;
  }

  #platform(): Platform {
    const start = (ms: number, run: () => unknown, label: string) => timerOf(this.after(ms, label, run));
    return {
      now: () => this.wallMs(),
      monotonicMs: () => this.monotonicMs,
      setTimeout: (run, ms, ...args) => start(ms, () => run(...args), "timer"),
      clearTimeout: (timer) => cancel(timer),
      setInterval: (run, ms) => this.#interval(run, ms),
      clearInterval: (timer) => cancel(timer),
      setImmediate: (run) => this.after(0, "turn", run),
      sleep: (ms) => this.sleep(ms),
      random: this.#machineDraw,
      randomBytes: (count) => this.#bytes(count),
      uuid: () => this.#uuid(this.#machineDraw() * 2 ** 48, "4"),
      uuidV7: (ms) => this.#uuid(ms, "7"),
    };
  }

  #bytes(count: number): Buffer {
    const bytes = Buffer.allocUnsafe(count);
    for (let place = 0; place < count; place += 1) bytes[place] = this.#machineDraw() * 256;
    return bytes;
  }

  #interval(run: () => unknown, ms: number): Timer {
    let stop = () => {};
    const again = () => {
      stop = this.after(ms, "interval", () => {
        again();
        run();
      });
    };
    again();
    return timerOf(() => stop());
  }

  /** Ids of one millisecond sort in the order in which they were made. */
  #uuid(ms: number, version: "4" | "7"): string {
    this.#ids += 1;
    const time = Math.floor(ms).toString(16).padStart(12, "0");
    const count = (this.#ids % 0x1000).toString(16).padStart(3, "0");
    const rest = Math.floor(this.#machineDraw() * 2 ** 48)
      .toString(16)
      .padStart(12, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-${version}${count}-8000-${rest}`;
  }
}

const stops = new WeakMap<object, () => void>();

/** A timer that keeps nothing alive. */
function timerOf(stop: () => void): Timer {
  const timer = { ref: () => timer, unref: () => timer, hasRef: () => false, refresh: () => timer };
  stops.set(timer, stop);
  // Safe because the program only starts, unrefs and clears timers.
  return timer as unknown as Timer;
}

function cancel(timer: Timer | undefined): void {
  if (timer) stops.get(timer)?.();
}

/** A binary heap of events, the earliest first; of one time, the one scheduled first. */
class EventHeap {
  readonly #items: ScheduledEvent[] = [];

  /** Empties the heap. */
  takeAll(): readonly ScheduledEvent[] {
    return this.#items.splice(0);
  }

  push(event: ScheduledEvent): void {
    const items = this.#items;
    let place = items.length;
    items.push(event);
    while (place > 0) {
      const parentPlace = (place - 1) >> 1;
      const parent = items[parentPlace];
      if (!parent || isBefore(parent, event)) break;
      items[place] = parent;
      place = parentPlace;
    }
    items[place] = event;
  }

  pop(): ScheduledEvent | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (!first || !last || first === last) return first;
    let place = 0;
    for (;;) {
      const left = items[2 * place + 1];
      const right = items[2 * place + 2];
      const isRight = left !== undefined && right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (!child || isBefore(last, child)) break;
      items[place] = child;
      place = 2 * place + (isRight ? 2 : 1);
    }
    items[place] = last;
    return first;
  }
}

function isBefore(one: ScheduledEvent, other: ScheduledEvent): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}
