/** A calendar month in UTC. */
export interface Month {
  /** "2026-11" */
  readonly name: string;
  readonly fromMs: number;
  /** The first instant of the next month. */
  readonly toMs: number;
}

/** Reads "2026-11". Throws RangeError for other text. */
export function readMonth(name: string): Month {
  const match = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(name);
  if (!match) throw new RangeError(`Cannot read "${name}" as a month: expected a text such as 2026-11`);
  return monthAt(Number(match[1]), Number(match[2]) - 1);
}

/** Returns the month of a time, or so many months before it. */
export function monthOf(ms: number, back = 0): Month {
  const date = new Date(ms);
  return monthAt(date.getUTCFullYear(), date.getUTCMonth() - back);
}

function monthAt(year: number, index: number): Month {
  const fromMs = Date.UTC(year, index);
  return { name: new Date(fromMs).toISOString().slice(0, 7), fromMs, toMs: Date.UTC(year, index + 1) };
}
