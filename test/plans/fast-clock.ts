/** A clock on which days pass in milliseconds, alike in several processes. */
export interface FastClock {
  readonly startMs: number;
  readonly begunAtMs: number;
  readonly dayMs: number;
}

export function readClock({ startMs, begunAtMs, dayMs }: FastClock): number {
  return startMs + Math.floor(((Date.now() - begunAtMs) * 86_400_000) / dayMs);
}
