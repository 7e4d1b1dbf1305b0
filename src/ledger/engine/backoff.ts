/** How long the batch loop tries again before it gives up. */
export interface Patience {
  /** The first try begins, or one after it. */
  start(): void;
  /** Milliseconds to wait before the next try; `undefined` when it was tried long enough. */
  pauseMs(): number | undefined;
  /** What was tried succeeded, or was given up. */
  restore(): void;
}

const PAUSE_MS = 2;
const PAUSE_MAX_MS = 50;

/** Pauses grow with every failure in a row, from 2 ms to 50, each by up to half more or less. */
export function createPatience(maxMs: number): Patience {
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
      // Jitter: processes that collided once would collide again.
      const pauseMs = baseMs * (0.5 + Math.random());
      baseMs = Math.min(PAUSE_MAX_MS, baseMs * 1.5);
      return pauseMs;
    },
    restore() {
      sinceMs = undefined;
      baseMs = PAUSE_MS;
    },
  };
}
