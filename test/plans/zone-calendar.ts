// The wall clock of a zone, reckoned by the machine's Intl alone: no code of src/domain, and no Temporal.

const DAY_MS = 86_400_000;
const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** Returns the time on the wall of a zone, written as if it were UTC. */
export function wallOf(atMs: number, timeZone: string): number {
  return atMs + offsetAt(atMs, timeZone);
}

/** Returns the instant of a time on the wall: the first of two, and of a skipped time the one that follows it. */
export function instantOf(wallMs: number, timeZone: string): number {
  const [before, after] = [offsetAt(wallMs - DAY_MS, timeZone), offsetAt(wallMs + DAY_MS, timeZone)];
  if (offsetAt(wallMs - before, timeZone) === before) return wallMs - before;
  return offsetAt(wallMs - after, timeZone) === after ? wallMs - after : wallMs - before;
}

function offsetAt(atMs: number, timeZone: string): number {
  if (timeZone === "UTC") return 0;
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const date = [part("year"), part("month") - 1, part("day")] as const;
  const wallMs = Date.UTC(...date, part("hour"), part("minute"), part("second"));
  return wallMs - Math.floor(atMs / 1_000) * 1_000;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = FORMATS.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    ...{ year: "numeric", month: "numeric", day: "numeric" },
    ...{ hour: "numeric", minute: "numeric", second: "numeric" },
  });
  FORMATS.set(timeZone, format);
  return format;
}
