const TICK_MS = 5;

/** Tells how long this process was held up: by its own work, and by others on the machine. */
export interface StallMeter {
  /** In all until now, in ms; only differences count. */
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
