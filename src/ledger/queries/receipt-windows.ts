import { DAY_MS, HOUR_MS } from "../../domain/id-time.ts";
import type { ReceiptFilter } from "../records.ts";
import {
  coverRange,
  isEmpty,
  joinStarts,
  type RollUpSnapshot,
  readSnapshot,
  SNAPSHOT_COLUMNS,
  type TimeRange,
} from "./coverage.ts";
import { createValues, type Dialect, type RunQuery } from "./query.ts";
import { type RollUpTable, rollUpConditions, walletsOf } from "./roll-up-tables.ts";

interface Source {
  readonly run: RunQuery;
  readonly dialect: Dialect;
}

interface Wanted {
  readonly range: TimeRange;
  /** The most receipts that are searched for. */
  readonly rowsMax: number;
}

/** Windows that are summed up have at most this length in a search by a slow condition. */
const SLOW_WINDOW_MS = 6 * HOUR_MS;
const SLOW_STARTS_MAX = 3_000;
const HOURS_OF_DAY = 24;
/** How often the roll-ups may change during a search, before it goes on without them. */
const CHANGES_MAX = 5;

/** Whether a filter has a condition that roll-ups lack, so that any hour may have no match. */
export function hasSlowCondition({ surface, metadata, scopes = [] }: ReceiptFilter): boolean {
  return surface !== undefined || metadata !== undefined || scopes.length > 0;
}

/**
 * Yields the parts of a range that may have matching receipts, newest first. Hours that are summed up are
 * left out when no group of them matches the filter.
 */
export async function* windowsOf(
  source: Source,
  filter: ReceiptFilter,
  { range, rowsMax }: Wanted,
): AsyncGenerator<TimeRange> {
  const isSlow = hasSlowCondition(filter);
  const startsMax = isSlow ? SLOW_STARTS_MAX : rowsMax;
  let rest = range;
  for (let changes = 0; !isEmpty(rest); ) {
    const snapshot = await readSnapshot(source.run, source.dialect, {
      walletId: filter.walletId,
      range: rest,
    });
    // Usage outlives receipts: the hours before have groups that match, and none of their receipts.
    rest = { ...rest, fromMs: Math.max(rest.fromMs, snapshot.clearedToMs) };
    if (isEmpty(rest)) return;
    const segment = newestSegment(rest, snapshot, filter.walletId === undefined);
    if (segment.table === undefined || changes > CHANGES_MAX) {
      const window = segment.table === undefined ? segment.range : rest;
      yield window;
      rest = { ...rest, toMs: window.fromMs };
      continue;
    }
    const { range: searched, table } = segment;
    const starts = await readStarts(source, filter, { range: searched, table, snapshot, startsMax });
    if (starts === undefined) {
      changes += 1;
      continue;
    }
    if (segment.table === "usage_days" && !isSlow) yield* hoursOfDays(source, filter, { starts, snapshot });
    else {
      for (const window of joinStarts(starts, lengthOf(segment.table), 0).toReversed()) {
        yield* isSlow ? splitWindow(window) : [window];
      }
    }
    rest = { ...rest, toMs: starts.length < startsMax ? segment.range.fromMs : (starts[0] ?? rest.fromMs) };
  }
}

/** A part of a range: summed up in a table, or to be read from the receipts. */
interface Segment {
  readonly range: TimeRange;
  readonly table: "usage_hours" | "usage_days" | undefined;
}

/** The newest part of a range. Days serve lists of all wallets, whose hours are many. */
function newestSegment(range: TimeRange, snapshot: RollUpSnapshot, takesDays: boolean): Segment {
  const { receipts, hours, days } = coverRange(range, snapshot, takesDays);
  const segments: Segment[] = [
    ...receipts.map((part) => ({ range: part, table: undefined })),
    ...hours.map((part) => ({ range: part, table: "usage_hours" as const })),
    ...days.map((part) => ({ range: part, table: "usage_days" as const })),
  ];
  const newest = segments.find((segment) => segment.range.toMs === range.toMs);
  return newest ?? { range, table: undefined };
}

function lengthOf(table: "usage_hours" | "usage_days"): number {
  return table === "usage_hours" ? HOUR_MS : DAY_MS;
}

interface StartsRequest {
  readonly range: TimeRange;
  readonly table: RollUpTable;
  readonly snapshot: RollUpSnapshot;
  readonly startsMax: number;
}

/**
 * Reads the newest hours or days of a segment that have a matching group, the oldest first. `undefined` when
 * the roll-ups have changed since the snapshot: an hour that is being rewritten would be missing.
 */
async function readStarts(
  { run, dialect }: Source,
  filter: ReceiptFilter,
  { range, table, snapshot, startsMax }: StartsRequest,
): Promise<readonly number[] | undefined> {
  const values = createValues(dialect);
  const wallets = walletsOf(table, filter, values);
  const conditions = [
    `start_ms >= ${values.add(range.fromMs)}`,
    `start_ms < ${values.add(range.toMs)}`,
    ...wallets.conditions,
    ...rollUpConditions(filter, values),
    // A receipt that is still open is in no roll-up.
    ...(filter.state === undefined ? [] : [filter.state === "held" ? "false" : `${filter.state} > 0`]),
  ];
  const sql = `SELECT state.*, start_ms FROM (SELECT ${SNAPSHOT_COLUMNS} FROM usage_cursor) AS state
    LEFT JOIN (SELECT DISTINCT start_ms FROM ${wallets.from} WHERE ${conditions.join(" AND ")}
      ORDER BY start_ms DESC LIMIT ${values.add(startsMax)}) AS starts ON true ORDER BY start_ms`;
  const rows = await run({ sql, values: values.all });
  const isCurrent =
    Number(rows[0]?.version) === snapshot.version && Number(rows[0]?.stale_count) === snapshot.staleCount;
  if (!isCurrent) return undefined;
  return rows.flatMap((row) => (row.start_ms === null ? [] : [Number(row.start_ms)]));
}

interface Days {
  readonly starts: readonly number[];
  readonly snapshot: RollUpSnapshot;
}

/** Yields the hours of days that have a matching group, newest first: a day of all wallets has many receipts. */
async function* hoursOfDays(
  source: Source,
  filter: ReceiptFilter,
  { starts, snapshot }: Days,
): AsyncGenerator<TimeRange> {
  for (const fromMs of starts.toReversed()) {
    const day = { fromMs, toMs: fromMs + DAY_MS };
    const wanted = { range: day, table: "usage_hours", snapshot, startsMax: HOURS_OF_DAY } as const;
    const hours = await readStarts(source, filter, wanted);
    // All of the day when the roll-ups have changed meanwhile.
    yield* hours === undefined ? [day] : joinStarts(hours, HOUR_MS, 0).toReversed();
  }
}

function* splitWindow({ fromMs, toMs }: TimeRange): Generator<TimeRange> {
  for (let endMs = toMs; endMs > fromMs; ) {
    const startMs = Math.max(fromMs, endMs - SLOW_WINDOW_MS);
    yield { fromMs: startMs, toMs: endMs };
    endMs = startMs;
  }
}
