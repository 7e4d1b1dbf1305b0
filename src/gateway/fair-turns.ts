/** A request that has worked for so long lets others have their turn. */
const WORK_MS_MAX = 10;

/** Keeps one answer that comes faster than it is read from holding up all others. One per answer. */
export interface FairTurns {
  /** Does a piece of work; `undefined`, or what to wait for before the next one. */
  work(piece: () => void): Promise<void> | undefined;
}

export function createFairTurns(): FairTurns {
  let workedMs = 0;
  return {
    work(piece) {
      const startedAt = performance.now();
      try {
        piece();
      } finally {
        workedMs += performance.now() - startedAt;
      }
      if (workedMs < WORK_MS_MAX) return undefined;
      workedMs = 0;
      return new Promise((resolve) => setImmediate(resolve));
    },
  };
}
