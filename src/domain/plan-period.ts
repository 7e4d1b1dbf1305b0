/** How long each period of a plan is: a month of the calendar, or 1 to 366 days, such as "30d". */
export type PlanPeriod = "month" | `${number}d`;

/** The most days of a period. */
const PERIOD_DAYS_MAX = 366;

/** Whether a text is the period of a plan. */
export function isPlanPeriod(text: string): text is PlanPeriod {
  return text === "month" || (/^[1-9]\d{0,2}d$/.test(text) && daysOf(text) <= PERIOD_DAYS_MAX);
}

/** The moment from which periods are counted, on the calendar and the clock of its time zone. */
export interface PlanAnchor {
  readonly atMs: number;
  /** An IANA name. */
  readonly timeZone: string;
  readonly period: PlanPeriod;
}

/**
 * Returns the Unix milliseconds at which the period `index` begins; period 0 begins at the anchor. A day that a month
 * lacks is its last day, and a later month has the anchor's day again. A time that a clock change skips is the time
 * after it, and of one that occurs twice it is the first.
 */
export function planPeriodStart({ atMs, timeZone, period }: PlanAnchor, index: number): number {
  if (index === 0) return atMs;
  const anchor = Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone).toPlainDateTime();
  const length = period === "month" ? { months: index } : { days: index * daysOf(period) };
  return anchor.add(length).toZonedDateTime(timeZone).epochMilliseconds;
}

function daysOf(period: string): number {
  return Number(period.slice(0, -1));
}
