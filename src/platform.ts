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
