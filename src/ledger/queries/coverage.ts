import { DAY_MS, HOUR_MS, ID_TIME_MAX, startOf } from "../../domain/id-time.ts";
import { createValues, type Dialect, type Query, type Row, type RunQuery } from "./query.ts";

/** Unix milliseconds, from `fromMs` to before `toMs`. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The hours and days that are summed up. */
export interface RollUpCursor {
  /** Grows with each write of the job. */
  readonly version: number;
  readonly hours: TimeRange;
  /** Within the days, every hour is within `hours`. */
  readonly days: TimeRange;
  /** From here on, `hours` and `days` are also summed over all wallets. {@link NO_TOTALS_MS}: none is. */
  readonly totalsFromMs: number;
  /** The days, of {@link days}, that are also summed up by scope. An empty range: none is. */
  readonly scopes: TimeRange;
}

/** Later than every hour. */
export const NO_TOTALS_MS = ID_TIME_MAX + 1;

/** No day is summed up by scope. */
export const NO_SCOPE_DAYS: TimeRange = { fromMs: 0, toMs: 0 };

/** The cursor with the number of stale hours: while both are equal, equal hours are stale. */
export interface RollUpSnapshot extends RollUpCursor {
  readonly staleCount: number;
  /** Stale hours in the range and wallet asked for, the oldest first. */
  readonly staleHours: readonly number[];
  /** Receipts before this time were dropped. */
  readonly clearedToMs: number;
  /** Receipts before this time may have been dropped. */
  readonly receiptsFromMs: number;
}

/** The SQL of the values that identify a snapshot. */
export const SNAPSHOT_COLUMNS = `version, (SELECT count(*) FROM usage_stale) AS stale_count,
  (SELECT receipts_from_ms FROM retention) AS receipts_from_ms`;

interface SnapshotRange {
  readonly walletId: string | undefined;
  readonly range: TimeRange;
}

/** Reads which hours and days a sum of receipts can take from roll-ups, in one statement. */
export async function readSnapshot(
  run: RunQuery,
  dialect: Dialect,
  wanted: SnapshotRange,
): Promise<RollUpSnapshot> {
  return readSnapshotRows(await run(snapshotQuery(dialect, wanted)));
}

/** The statement of {@link readSnapshot}. */
export function snapshotQuery(dialect: Dialect, { walletId, range }: SnapshotRange): Query {
  const values = createValues(dialect);
  const conditions = [
    `start_ms > ${values.add(range.fromMs - HOUR_MS)}`,
    `start_ms < ${values.add(range.toMs)}`,
    ...(walletId === undefined ? [] : [`wallet_id = ${values.add(walletId)}`]),
  ];
  const sql = `SELECT usage_cursor.*, ${SNAPSHOT_COLUMNS}, start_ms,
      (SELECT cleared_to_ms FROM retention) AS cleared_to_ms FROM usage_cursor
    LEFT JOIN (SELECT DISTINCT start_ms FROM usage_stale WHERE ${conditions.join(" AND ")}) AS stale ON true
    ORDER BY start_ms`;
  return { sql, values: values.all };
}

/** Reads the rows of {@link snapshotQuery}. */
export function readSnapshotRows(rows: readonly Row[]): RollUpSnapshot {
  const staleHours = rows.flatMap((row) => (row.start_ms === null ? [] : [Number(row.start_ms)]));
  const number = (name: string) => Number(rows[0]?.[name] ?? 0);
  return {
    ...readCursor(rows[0]),
    staleCount: number("stale_count"),
    staleHours,
    clearedToMs: number("cleared_to_ms"),
    receiptsFromMs: number("receipts_from_ms"),
  };
}

/** How often a sum is tried: at first with the roll-ups of a moment, then with those that last while others change. */
export const TRIES_MAX = 10;
const TRIES_OF_MOMENT = 5;

/** What one try of a sum takes from roll-ups. */
interface TakenRollUps {
  readonly hours: RollUpSnapshot;
  /** For sums by scope, which take whole days. */
  readonly days: RollUpSnapshot;
  /** Whether they, and the receipts beside them, were still there when a row of the sum was read. */
  areThere(row: Row | undefined): boolean;
}

/** Never the receipts alone: some of them may have been dropped. */
export function rollUpsOfTry(snapshot: RollUpSnapshot, tries: number): TakenRollUps {
  const { version, staleCount, receiptsFromMs } = snapshot;
  if (tries <= TRIES_OF_MOMENT) {
    const areThere = (row: Row | undefined) =>
      Number(row?.version) === version &&
      Number(row?.stale_count) === staleCount &&
      Number(row?.receipts_from_ms ?? 0) === receiptsFromMs;
    return { hours: snapshot, days: snapshot, areThere };
  }
  const endMs = lastingEndOf(snapshot);
  const daysEndMs = Math.max(ceilOf(receiptsFromMs, DAY_MS), startOf(endMs, DAY_MS));
  const areThere = (row: Row | undefined) => Number(row?.receipts_from_ms ?? 0) <= Math.min(endMs, daysEndMs);
  return { hours: lastingPart(snapshot, endMs), days: lastingPart(snapshot, daysEndMs), areThere };
}

/** Until when roll-ups stay as they are: those of receipts that were dropped, and that may be next. */
function lastingEndOf({ receiptsFromMs, hours, scopes, staleHours }: RollUpSnapshot): number {
  const staleMs = staleHours.find((startMs) => startMs >= receiptsFromMs) ?? hours.toMs;
  // Retention may drop a week more during a sum.
  const endMs = Math.min(receiptsFromMs + 7 * DAY_MS, hours.toMs, scopes.toMs, staleMs);
  return Math.max(receiptsFromMs, endMs);
}

function lastingPart({ hours, days, ...others }: RollUpSnapshot, toMs: number): RollUpSnapshot {
  const part = { fromMs: 0, toMs };
  return { ...others, hours: intersect(hours, part), days: intersect(days, part), staleHours: [] };
}

export function readCursor(row: Row | undefined): RollUpCursor {
  const number = (name: string) => Number(row?.[name] ?? 0);
  const version = number("version");
  return {
    version,
    hours: { fromMs: number("hours_from_ms"), toMs: number("hours_to_ms") },
    days: { fromMs: number("days_from_ms"), toMs: number("days_to_ms") },
    // A program that knows no totals has written since when the versions differ.
    totalsFromMs: number("totals_version") === version ? number("totals_from_ms") : NO_TOTALS_MS,
    scopes:
      number("scopes_version") === version
        ? { fromMs: number("scopes_from_ms"), toMs: number("scopes_to_ms") }
        : NO_SCOPE_DAYS,
  };
}

/** Which parts of a range are summed from which table. Together the parts are the range, without overlap. */
export interface Coverage {
  readonly receipts: readonly TimeRange[];
  readonly hours: readonly TimeRange[];
  readonly days: readonly TimeRange[];
  /** From here on, the hours and days are also summed over all wallets. */
  readonly totalsFromMs: number;
}

/** The most parts of one kind; each is a part of the statement. */
const PARTS_MAX = 50;

/** All of a range from the receipts. */
export function coverByReceipts(range: TimeRange): Coverage {
  return { receipts: nonEmpty([range]), hours: [], days: [], totalsFromMs: NO_TOTALS_MS };
}

/**
 * Takes whole days from days when `takesDays`, other whole hours from hours, and the rest from the receipts:
 * parts of hours at the ends, hours that are not summed up, and stale hours.
 */
export function coverRange(range: TimeRange, snapshot: RollUpSnapshot, takesDays: boolean): Coverage {
  const inner = intersect(
    { fromMs: ceilOf(range.fromMs, HOUR_MS), toMs: startOf(range.toMs, HOUR_MS) },
    snapshot.hours,
  );
  if (isEmpty(inner)) return coverByReceipts(range);
  const stale = joinToParts(
    snapshot.staleHours.filter((hour) => hour >= inner.fromMs && hour < inner.toMs),
    HOUR_MS,
  );
  const fresh = without(inner, stale);
  const days = takesDays ? nonEmpty(fresh.map((part) => wholeDays(part, snapshot.days))) : [];
  return {
    receipts: nonEmpty([
      { fromMs: range.fromMs, toMs: inner.fromMs },
      ...stale,
      { fromMs: inner.toMs, toMs: range.toMs },
    ]),
    hours: fresh.flatMap((part) =>
      without(
        part,
        days.filter((day) => !isEmpty(intersect(day, part))),
      ),
    ),
    days,
    totalsFromMs: snapshot.totalsFromMs,
  };
}

/** The range of a filter, within the times that ids can have. */
export function rangeOf({
  fromMs,
  toMs,
}: {
  fromMs?: number | undefined;
  toMs?: number | undefined;
}): TimeRange {
  return { fromMs: fromMs ?? 0, toMs: toMs ?? ID_TIME_MAX + 1 };
}

export function isEmpty({ fromMs, toMs }: TimeRange): boolean {
  return fromMs >= toMs;
}

function nonEmpty(ranges: readonly TimeRange[]): readonly TimeRange[] {
  return ranges.filter((range) => !isEmpty(range));
}

export function intersect(one: TimeRange, other: TimeRange): TimeRange {
  return { fromMs: Math.max(one.fromMs, other.fromMs), toMs: Math.min(one.toMs, other.toMs) };
}

/** Removes parts of a range. They must lie in it, sorted and without overlap. */
export function without(range: TimeRange, parts: readonly TimeRange[]): readonly TimeRange[] {
  const ends = [...parts.map(({ fromMs }) => fromMs), range.toMs];
  const starts = [range.fromMs, ...parts.map(({ toMs }) => toMs)];
  return nonEmpty(starts.map((fromMs, index) => ({ fromMs, toMs: ends[index] ?? range.toMs })));
}

function wholeDays(part: TimeRange, days: TimeRange): TimeRange {
  return intersect({ fromMs: ceilOf(part.fromMs, DAY_MS), toMs: startOf(part.toMs, DAY_MS) }, days);
}

/** Joins adjacent hours or days, and others further apart when there are too many parts. */
export function joinToParts(starts: readonly number[], lengthMs: number): readonly TimeRange[] {
  for (let gapMs = 0; ; gapMs = gapMs * 2 + lengthMs) {
    const joined = joinStarts(starts, lengthMs, gapMs);
    if (joined.length <= PARTS_MAX) return joined;
  }
}

/** Joins hours or days, sorted by their starts, that are at most `gapMs` apart. */
export function joinStarts(starts: readonly number[], lengthMs: number, gapMs: number): readonly TimeRange[] {
  const joined: { fromMs: number; toMs: number }[] = [];
  for (const fromMs of starts) {
    const last = joined.at(-1);
    if (last && fromMs - last.toMs <= gapMs) last.toMs = fromMs + lengthMs;
    else joined.push({ fromMs, toMs: fromMs + lengthMs });
  }
  return joined;
}

export function ceilOf(atMs: number, lengthMs: number): number {
  return Math.ceil(atMs / lengthMs) * lengthMs;
}
