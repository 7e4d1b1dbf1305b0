import { DAY_MS, HOUR_MS } from "./times.ts";

/** A range of time in the URL: one of the names, or two ISO dates. */
export interface RangeSearch {
  readonly range?: RangeName;
  /** UTC days, both included: "2026-11-01". */
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

/** Reads the range of a URL; what is not one is left out. */
export function readRangeSearch(search: Record<string, unknown>): RangeSearch {
  const { range, from, to } = search;
  if (isDay(from) && isDay(to) && from <= to) return { from, to };
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

/** Months are those of UTC, as in statements. */
function startOfMonth(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
}

function isRangeName(value: unknown): value is RangeName {
  return typeof value === "string" && Object.hasOwn(RANGES, value);
}

function isDay(value: unknown): value is string {
  return typeof value === "string" && DAY.test(value) && !Number.isNaN(Date.parse(value));
}
