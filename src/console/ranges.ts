import { DAY_MS, HOUR_MS } from "./times.ts";

/** A range of time in the URL: one of the names, two ISO dates, or two whole hours. */
export interface RangeSearch {
  readonly range?: RangeName;
  /** UTC days, both included: "2026-11-01". Or hours, of which the last is not included: "2026-11-01T14:00Z". */
  readonly from?: string;
  readonly to?: string;
}

export type RangeName = "24h" | "7d" | "30d" | "90d" | "month";

/** A range of time as the API takes it: `from` is included, `to` is not. */
export interface Range {
  readonly from: string;
  readonly to: string;
  /** `undefined` for a range of two dates. */
  readonly name: RangeName | undefined;
  /** Whole hours that the days of the range are ahead of UTC. Sums need it, or they widen the range. */
  readonly offsetHours: number;
}

interface RangeOptions {
  readonly nowMs?: number;
  /** What holds while the URL names no range. */
  readonly usual?: RangeName;
  /** Minutes that the viewer's clock is ahead of UTC; 0 where all accounts are summed up by UTC days. */
  readonly offsetMinutes?: number;
}

export const RANGES: Readonly<Record<RangeName, { readonly title: string; readonly hours: number }>> = {
  "24h": { title: "24 hours", hours: 24 },
  "7d": { title: "7 days", hours: 7 * 24 },
  "30d": { title: "30 days", hours: 30 * 24 },
  "90d": { title: "90 days", hours: 90 * 24 },
  month: { title: "This month", hours: 31 * 24 },
};
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const HOUR = /^\d{4}-\d{2}-\d{2}T\d{2}:00Z$/;

/** Reads the range of a URL; what is not one is left out. */
export function readRangeSearch(search: Record<string, unknown>): RangeSearch {
  const { range, from, to } = search;
  if (isTime(from, DAY) && isTime(to, DAY) && from <= to) return { from, to };
  if (isTime(from, HOUR) && isTime(to, HOUR) && from < to) return { from, to };
  return isRangeName(range) ? { range } : {};
}

/**
 * Resolves a range against the clock. `to` is the end of the running hour, so that the same URL asks the same
 * question for an hour. 24 hours begin on a whole hour, 7 and 30 days at the viewer's midnight, and longer ranges,
 * months and chosen days at midnight UTC: a sum by hours, by days or of everything is then of the same requests.
 */
export function resolveRange(
  search: RangeSearch,
  {
    nowMs = Date.now(),
    usual = "30d",
    offsetMinutes = -new Date(nowMs).getTimezoneOffset(),
  }: RangeOptions = {},
): Range {
  if (search.from !== undefined && search.to !== undefined) {
    if (isOfHours(search)) return resolveHours(search.from, search.to, offsetMinutes);
    const to = Date.parse(`${search.to}T00:00:00Z`) + DAY_MS;
    return {
      from: `${search.from}T00:00:00.000Z`,
      to: new Date(to).toISOString(),
      name: undefined,
      offsetHours: 0,
    };
  }
  const name = search.range ?? usual;
  const { hours } = RANGES[name];
  const to = Math.ceil((nowMs + 1) / HOUR_MS) * HOUR_MS;
  const start = to - hours * HOUR_MS;
  const offsetHours = name === "7d" || name === "30d" ? Math.floor(offsetMinutes / 60) : 0;
  const shift = offsetHours * HOUR_MS;
  const firstDay =
    name === "month" ? startOfMonth(nowMs) : Math.ceil((start + shift) / DAY_MS) * DAY_MS - shift;
  const from = hours > 24 ? firstDay : start;
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), name, offsetHours };
}

/** Longer ranges than those of hourly sums are of UTC days. */
const HOURLY_DAYS_MAX = 31;

function resolveHours(from: string, to: string, offsetMinutes: number): Range {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  const offsetHours = toMs - fromMs > HOURLY_DAYS_MAX * DAY_MS ? 0 : Math.floor(offsetMinutes / 60);
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    name: undefined,
    offsetHours,
  };
}

/** Months are those of UTC, as in statements. */
function startOfMonth(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
}

function isRangeName(value: unknown): value is RangeName {
  return typeof value === "string" && Object.hasOwn(RANGES, value);
}

function isTime(value: unknown, shape: RegExp): value is string {
  return typeof value === "string" && shape.test(value) && !Number.isNaN(Date.parse(value));
}

/** Whether a range of the URL is of hours and not of days. */
export function isOfHours({ from = "" }: RangeSearch): boolean {
  return HOUR.test(from);
}

/** The range of the URL from one whole hour to another; of days where both are midnights of UTC. */
export function rangeOfTimes(fromMs: number, toMs: number): Pick<RangeSearch, "from" | "to"> {
  const print = (ms: number) => new Date(ms).toISOString();
  if (fromMs % DAY_MS === 0 && toMs % DAY_MS === 0) {
    return { from: print(fromMs).slice(0, 10), to: print(toMs - DAY_MS).slice(0, 10) };
  }
  return { from: `${print(fromMs).slice(0, 13)}:00Z`, to: `${print(toMs).slice(0, 13)}:00Z` };
}
