const TICK_MS = 5;

/** Measures stalls of this process, caused by its own work or by others on the machine. */
export interface StallMeter {
  /** Returns the total stall time in ms; only differences are meaningful. */
  stalledMs(): number;
  stop(): void;
}

export function startStallMeter(): StallMeter {
  let stalledMs = 0;
  let tickedAtMs = performance.now();
  const sinceTickMs = () => Math.max(performance.now() - tickedAtMs - TICK_MS, 0);
  const timer = setInterval(() => {
    stalledMs += sinceTickMs();
    tickedAtMs = performance.now();
  }, TICK_MS);
  return { stalledMs: () => stalledMs + sinceTickMs(), stop: () => clearInterval(timer) };
}
