/** A calendar month in UTC. */
export interface FigureMonth {
  /** "2026-11" */
  readonly name: string;
  readonly fromMs: number;
  /** The first instant of the next month. */
  readonly toMs: number;
}

/** Returns the month of a time, or so many months before it. */
export function monthBefore(nowMs: number, back: number): FigureMonth {
  const now = new Date(nowMs);
  const [year, index] = [now.getUTCFullYear(), now.getUTCMonth() - back];
  const fromMs = Date.UTC(year, index);
  return { name: new Date(fromMs).toISOString().slice(0, 7), fromMs, toMs: Date.UTC(year, index + 1) };
}
