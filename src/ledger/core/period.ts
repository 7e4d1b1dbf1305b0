import type { LimitPeriod } from "../ledger.ts";

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;
/** 1970-01-01 was a Thursday: the Monday before it lies three days earlier. */
const DAYS_SINCE_MONDAY_AT_EPOCH = 3;

/** A period that comes again: from its start on, and before its end; Unix milliseconds. */
interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

type Recurring = Exclude<LimitPeriod, "total">;

/** Unix milliseconds of the start of the period that `atMs` lies in; 0 for `total`. Weeks start on Monday. */
export function periodStart(period: LimitPeriod, atMs: number, timeZone?: string): number {
  return period === "total" ? 0 : spanOf(period, atMs, timeZone).startMs;
}

/** Unix milliseconds of the next period's start; `undefined` for `total`, which never resets. */
export function periodEnd(period: LimitPeriod, atMs: number, timeZone?: string): number | undefined {
  return period === "total" ? undefined : spanOf(period, atMs, timeZone).endMs;
}

/** Whether a name is one of the IANA database, like "Asia/Kolkata"; an offset like "+02:00" is not. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

function spanOf(period: Recurring, atMs: number, timeZone = "UTC"): Span {
  return timeZone === "UTC" ? utcSpan(period, atMs) : zonedSpan(period, atMs, timeZone);
}

function utcSpan(period: Recurring, atMs: number): Span {
  if (period === "month") return { startMs: utcMonth(atMs, 0), endMs: utcMonth(atMs, 1) };
  const day = Math.floor(atMs / DAY_MS);
  if (period === "day") return { startMs: day * DAY_MS, endMs: (day + 1) * DAY_MS };
  const monday = day - ((day + DAYS_SINCE_MONDAY_AT_EPOCH) % WEEK_DAYS);
  return { startMs: monday * DAY_MS, endMs: (monday + WEEK_DAYS) * DAY_MS };
}

function utcMonth(atMs: number, monthsLater: number): number {
  const at = new Date(atMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + monthsLater, 1);
}

/** The last span asked for of each zone and period: calendars are slow, and the next question is about now. */
const known = new Map<string, Span>();
const KNOWN_MAX = 2_000;

function zonedSpan(period: Recurring, atMs: number, timeZone: string): Span {
  const name = `${period} ${timeZone}`;
  const last = known.get(name);
  if (last && atMs >= last.startMs && atMs < last.endMs) return last;
  const span = computeSpan(period, atMs, timeZone);
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(name, span);
  return span;
}

/**
 * A period starts when its first date does, which is not always midnight. Clocks that go back over
 * midnight live some minutes of the day before twice; the second time belongs to the new period, so
 * that periods follow each other on the line of time.
 */
function computeSpan(period: Recurring, atMs: number, timeZone: string): Span {
  const today = Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone).toPlainDate();
  const startOf = (date: Temporal.PlainDate) => date.toZonedDateTime(timeZone).epochMilliseconds;
  const length = LENGTHS[period];
  let first = today.subtract({ days: daysInto(period, today) });
  while (startOf(first.add(length)) <= atMs) first = first.add(length);
  return { startMs: startOf(first), endMs: startOf(first.add(length)) };
}

const LENGTHS: Readonly<Record<Recurring, Temporal.DurationLike>> = {
  day: { days: 1 },
  week: { days: WEEK_DAYS },
  month: { months: 1 },
};

function daysInto(period: Recurring, date: Temporal.PlainDate): number {
  if (period === "day") return 0;
  return period === "week" ? date.dayOfWeek - 1 : date.day - 1;
}
