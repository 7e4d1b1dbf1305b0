/** The pauses between attempts of the batch loop, and the end of the attempts. */
export interface Backoff {
  /** Starts the time that attempts may take, unless it runs already. */
  start(): void;
  /** Returns the milliseconds to wait before the next attempt; `undefined` when the time is over. */
  pauseMs(): number | undefined;
  /** Called when an attempt succeeded or was given up. */
  reset(): void;
}

const PAUSE_MS = 2;
const PAUSE_MAX_MS = 50;

/** Pauses grow with every failure in a row, from 2 ms to 50 ms, each jittered by ±50 %. */
export function createBackoff(maxMs: number): Backoff {
  let sinceMs: number | undefined;
  const start = () => {
    sinceMs ??= performance.now();
    return sinceMs;
  };
  let baseMs = PAUSE_MS;
  return {
    start,
    pauseMs() {
      if (performance.now() - start() >= maxMs) return undefined;
      // Jitter: without it, processes that collided once would collide again.
      const pauseMs = baseMs * (0.5 + Math.random());
      baseMs = Math.min(PAUSE_MAX_MS, baseMs * 1.5);
      return pauseMs;
    },
    reset() {
      sinceMs = undefined;
      baseMs = PAUSE_MS;
    },
  };
}
