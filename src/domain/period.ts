import { DAY_MS } from "./id-time.ts";

/** The calendar period of a spending limit. Weeks start on Monday; `total` never resets. */
export type CalendarPeriod = "total" | "day" | "week" | "month";

/** A window of 1 to 168 whole hours, such as "5h", that begins with its first hold. */
export type WindowPeriod = `${number}h`;

export type LimitPeriod = CalendarPeriod | WindowPeriod;

/** The longest window: a week. */
export const WINDOW_HOURS_MAX = 168;

const HOUR_MS = 3_600_000;

/** Returns the milliseconds of a window. */
export function windowMs(period: WindowPeriod): number {
  return Number(period.slice(0, -1)) * HOUR_MS;
}

/** Whether a text is a period: a calendar period, or "1h" to "168h". */
export function isLimitPeriod(text: string): text is LimitPeriod {
  if (isCalendar(text)) return true;
  return /^[1-9]\d{0,2}h$/.test(text) && Number(text.slice(0, -1)) <= WINDOW_HOURS_MAX;
}

/** Whether a period recurs with the calendar, or never. */
export function isCalendar(text: string): text is CalendarPeriod {
  return text === "total" || text === "day" || text === "week" || text === "month";
}

const WEEK_DAYS = 7;
/** 1970-01-01 was a Thursday: the Monday before it lies three days earlier. */
const DAYS_SINCE_MONDAY_AT_EPOCH = 3;

/** One recurrence of a period, from `startMs` to before `endMs`, in Unix milliseconds. */
interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

type Recurring = Exclude<CalendarPeriod, "total">;

/**
 * Returns the Unix milliseconds at which the period of `atMs` starts; 0 for `total`. Weeks start on Monday.
 */
export function periodStart(period: CalendarPeriod, atMs: number, timeZone?: string): number {
  return period === "total" ? 0 : spanOf(period, atMs, timeZone).startMs;
}

/** Returns the Unix milliseconds at which the next period starts; `undefined` for `total`. */
export function periodEnd(period: CalendarPeriod, atMs: number, timeZone?: string): number | undefined {
  return period === "total" ? undefined : spanOf(period, atMs, timeZone).endMs;
}

/** Whether a name is in the IANA database, like "Asia/Kolkata". An offset like "+02:00" is not. */
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
  if (period === "month") return utcMonth(atMs);
  const day = Math.floor(atMs / DAY_MS);
  if (period === "day") return { startMs: day * DAY_MS, endMs: (day + 1) * DAY_MS };
  const monday = day - ((day + DAYS_SINCE_MONDAY_AT_EPOCH) % WEEK_DAYS);
  return { startMs: monday * DAY_MS, endMs: (monday + WEEK_DAYS) * DAY_MS };
}

/** The latest month computed in UTC. */
let latestMonth: Span = { startMs: 0, endMs: 0 };

function utcMonth(atMs: number): Span {
  if (atMs < latestMonth.startMs || atMs >= latestMonth.endMs) {
    const at = new Date(atMs);
    const startOf = (month: number) => Date.UTC(at.getUTCFullYear(), month, 1);
    latestMonth = { startMs: startOf(at.getUTCMonth()), endMs: startOf(at.getUTCMonth() + 1) };
  }
  return latestMonth;
}

/**
 * The latest span computed for each zone and period. Calendar arithmetic is slow, and most calls ask for now.
 */
const latestSpans = new Map<string, Span>();
const SPANS_MAX = 2_000;

function zonedSpan(period: Recurring, atMs: number, timeZone: string): Span {
  const name = `${period} ${timeZone}`;
  const cached = latestSpans.get(name);
  if (cached && atMs >= cached.startMs && atMs < cached.endMs) return cached;
  const span = computeSpan(period, atMs, timeZone);
  if (latestSpans.size >= SPANS_MAX) latestSpans.clear();
  latestSpans.set(name, span);
  return span;
}

/**
 * A period starts with its first date, which is not always at midnight. Where clocks go back over midnight,
 * some minutes of the day before occur twice. The second occurrence belongs to the new period, so that
 * periods are contiguous in absolute time.
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
