/** Milliseconds of a clock that nobody can set. */
export function monotonicMs(): number {
  return performance.now();
}

/**
 * A clock that never goes back: a step back of `now` counts as no time passed, and time goes on from
 * there. So nothing that was admitted leaves early, and nothing waits for a wrong hour to come again.
 */
export function createSteadyClock(now: () => number): () => number {
  let last = now();
  let shift = 0;
  return () => {
    const time = now() + shift;
    if (time < last) {
      shift += last - time;
      return last;
    }
    last = time;
    return time;
  };
}
