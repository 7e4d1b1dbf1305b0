/** A clock that moves only when it is told to. */
export interface ManualClock {
  readonly now: () => number;
  /** Lets time pass; a negative step is a clock that was set back. */
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
