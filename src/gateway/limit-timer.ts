/** One timer for a limit that moves. */
export interface LimitTimer {
  /** The limit may have come nearer. */
  tighten(): void;
  stop(): void;
}

/**
 * Calls `onDue` once the limit has passed. A limit mostly moves later, so nothing is set or cleared as it
 * does: when the timer fires it looks where the limit is now, and waits on.
 */
export function startLimitTimer(limitAt: () => number, onDue: () => void, clock: () => number): LimitTimer {
  let timer: ReturnType<typeof setTimeout>;
  let timerAt: number;

  function arm(): void {
    timerAt = limitAt();
    timer = setTimeout(check, Math.max(0, timerAt - clock()));
  }
  function check(): void {
    if (clock() < limitAt()) arm();
    else onDue();
  }

  arm();
  return {
    tighten() {
      if (limitAt() >= timerAt) return;
      clearTimeout(timer);
      arm();
    },
    stop: () => clearTimeout(timer),
  };
}
