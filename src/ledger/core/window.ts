/**
 * The starts of a counter's windows on both sides of a time: no window of the counter begins between the two. They
 * answer for every time between them, so that memory may keep them.
 */
export interface WindowStarts {
  /** The latest start at or before the time; `undefined` when no window had begun. */
  readonly latestMs: number | undefined;
  /** The earliest start after the time: a window that was begun before the clock was set back. */
  readonly nextMs: number | undefined;
}

/** What a counter has before its first window. */
export const NO_WINDOWS: WindowStarts = Object.freeze({ latestMs: undefined, nextMs: undefined });

/** Whether starts that were read at one time are also those around `nowMs`. */
export function areAround({ latestMs, nextMs }: WindowStarts, nowMs: number): boolean {
  return (latestMs === undefined || latestMs <= nowMs) && (nextMs === undefined || nowMs < nextMs);
}

/**
 * Returns the start of the window that binds now; `undefined` when a hold would begin one. A window that begins within
 * one length from now binds already, because one that began now would overlap it.
 */
export function bindingStart(
  { latestMs, nextMs }: WindowStarts,
  lengthMs: number,
  nowMs: number,
): number | undefined {
  if (latestMs !== undefined && nowMs < latestMs + lengthMs) return latestMs;
  return nextMs !== undefined && nextMs < nowMs + lengthMs ? nextMs : undefined;
}

/** Returns those of all starts that are around a time. */
export function startsAround(all: readonly number[], nowMs: number): WindowStarts {
  const [begun, ahead] = [
    all.filter((startMs) => startMs <= nowMs),
    all.filter((startMs) => startMs > nowMs),
  ];
  return {
    latestMs: begun.length === 0 ? undefined : Math.max(...begun),
    nextMs: ahead.length === 0 ? undefined : Math.min(...ahead),
  };
}

/** Returns the starts around a time once a hold counts in the window from `startMs`, which it may have begun. */
export function addStart(starts: WindowStarts, startMs: number): WindowStarts {
  const { latestMs = Number.NEGATIVE_INFINITY, nextMs = Number.POSITIVE_INFINITY } = starts;
  return startMs > latestMs && startMs < nextMs ? { ...starts, latestMs: startMs } : starts;
}
