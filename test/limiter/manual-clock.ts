/** A clock that moves only by `step`. */
export interface ManualClock {
  readonly now: () => number;
  /** Advances the clock; a negative step sets it back. */
  step(ms: number): void;
}

export function createManualClock(startMs = 1_700_000_000_000): ManualClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    step(ms) {
      nowMs += ms;
    },
  };
}
