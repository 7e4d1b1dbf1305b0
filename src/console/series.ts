import { usdNumber } from "./format.ts";
import { type ChartPlace, type ChartSeries, printTimes, SERIES_MAX } from "./parts/chart-parts.ts";
import type { UsageAnswer, UsageRow } from "./queries/usage.ts";
import { DAY_MS, HOUR_MS } from "./times.ts";
import { nameOfNone, type UsageQuery } from "./usage-view.ts";

/** A row of a usage view: one bucket of time of one group. */
interface GroupedRow {
  readonly time: string | null;
  readonly group: string | null;
  readonly group_name: string | null;
}

interface StackOptions<Row> {
  readonly from: string;
  readonly to: string;
  readonly resolution: "hour" | "day";
  /** The name of rows without a group. */
  readonly name: string;
  readonly value: (row: Row) => number;
}

/** What a chart draws: a value of each series at each time. */
export interface Stacked {
  readonly times: readonly string[];
  readonly series: readonly ChartSeries[];
}

export const STEP_MS = { hour: HOUR_MS, day: DAY_MS };
/** The group in which the server sums up the groups that are too many to send. */
export const OTHERS = "(other)";

/** Spreads rows over every bucket of the range, also those without rows. The largest series come first. */
export function stackRows<Row extends GroupedRow>(
  rows: readonly Row[],
  { from, to, resolution, name, value }: StackOptions<Row>,
): Stacked {
  const step = STEP_MS[resolution];
  const start = firstBucket(rows, Date.parse(from), step);
  const count = Math.max(1, Math.ceil((Date.parse(to) - start) / step));
  const byGroup = new Map<string, { name: string; values: number[]; sum: number }>();
  for (const row of rows) {
    if (row.time === null) continue;
    const id = row.group ?? "";
    const known = byGroup.get(id) ?? {
      name: row.group_name ?? row.group ?? name,
      values: new Array<number>(count).fill(0),
      sum: 0,
    };
    const place = Math.floor((Date.parse(row.time) - start) / step);
    if (place >= 0 && place < count) known.values[place] = (known.values[place] ?? 0) + value(row);
    known.sum += value(row);
    byGroup.set(id, known);
  }
  const largest = [...byGroup].sort(([one, a], [other, b]) => rank(one) - rank(other) || b.sum - a.sum);
  const times = Array.from({ length: count }, (_, place) => new Date(start + place * step).toISOString());
  const series = largest.map(([id, { name: text, values }]) => ({ id, name: text, values }));
  // A group without a value, as of refused requests in a chart of costs, has no colour either.
  const seen = series.filter(({ values }) => values.some((value) => value !== 0));
  return { times, series: joinSmall(seen.length > 0 ? seen : series, count) };
}

/** Buckets stand where the rows do: days of a zone do not begin at midnight of UTC. */
function firstBucket(rows: readonly GroupedRow[], fromMs: number, step: number): number {
  const time = rows.find((row) => row.time !== null)?.time;
  const anchor = time ? Date.parse(time) : fromMs;
  return anchor - Math.floor((anchor - fromMs) / step) * step;
}

/** The group of all others comes last, whatever its sum. */
function rank(id: string): number {
  return id === OTHERS ? 1 : 0;
}

/** The largest groups have a series each; the others share the last one. */
function joinSmall(series: readonly ChartSeries[], count: number): readonly ChartSeries[] {
  if (series.length <= SERIES_MAX) return series;
  const small = series.slice(SERIES_MAX - 1);
  const values = Array.from({ length: count }, (_, place) =>
    small.reduce((sum, each) => sum + (each.values[place] ?? 0), 0),
  );
  const hasMore = small.some(({ id }) => id === OTHERS);
  const name = hasMore ? "All others" : `${small.length} others`;
  return [...series.slice(0, SERIES_MAX - 1), { id: OTHERS, name, values }];
}

/** Cost over time by group. */
export function costSeries(usage: UsageAnswer, query: UsageQuery): Stacked {
  return stack(usage, query, { rows: usage.rows, value: ({ cost_usd }) => usdNumber(cost_usd) });
}

/** What stands at the foot of a chart: hours in the viewer's zone, days of the zone that they are counted in. */
export function printBuckets(
  times: readonly string[],
  { by, offset_h }: Pick<UsageQuery, "by" | "offset_h">,
): readonly ChartPlace[] {
  if (by === "hour") return printTimes(times, "hour");
  return printTimes(
    times.map((time) => dayOf(time, offset_h)),
    "day",
  );
}

/** The day of a bucket: "2026-11-22". */
export function dayOf(time: string, offsetHours: number): string {
  return new Date(Date.parse(time) + offsetHours * HOUR_MS).toISOString().slice(0, 10);
}

interface StackOf {
  readonly rows: readonly UsageRow[];
  readonly value: (row: UsageRow) => number;
}

/** Spreads the rows of a usage view over its buckets, by group. */
export function stack(
  { from, to }: UsageAnswer,
  { by, group }: UsageQuery,
  { rows, value }: StackOf,
): Stacked {
  const name = group === "none" ? "All" : nameOfNone(group);
  return stackRows(rows, { from, to, resolution: by, name, value });
}
