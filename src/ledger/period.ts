import type { LimitPeriod } from "./ledger.ts";

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;
/** 1970-01-01 was a Thursday: the Monday before it lies three days earlier. */
const DAYS_SINCE_MONDAY_AT_EPOCH = 3;

/** Unix milliseconds of the start of the UTC period that `atMs` lies in; 0 for `total`. Weeks start on Monday. */
export function periodStart(period: LimitPeriod, atMs: number): number {
  const day = Math.floor(atMs / DAY_MS);
  switch (period) {
    case "total":
      return 0;
    case "day":
      return day * DAY_MS;
    case "week":
      return (day - ((day + DAYS_SINCE_MONDAY_AT_EPOCH) % WEEK_DAYS)) * DAY_MS;
    case "month":
      return monthStart(atMs, 0);
  }
}

/** Unix milliseconds of the next period's start; `undefined` for `total`, which never resets. */
export function periodEnd(period: LimitPeriod, atMs: number): number | undefined {
  switch (period) {
    case "total":
      return undefined;
    case "day":
      return periodStart("day", atMs) + DAY_MS;
    case "week":
      return periodStart("week", atMs) + WEEK_DAYS * DAY_MS;
    case "month":
      return monthStart(atMs, 1);
  }
}

function monthStart(atMs: number, monthsLater: number): number {
  const at = new Date(atMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + monthsLater, 1);
}
