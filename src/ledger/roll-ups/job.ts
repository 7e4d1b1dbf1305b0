import { OWN_ROWS_MAX } from "../../db/usage-columns.ts";
import { DAY_MS, firstIdOf, HOUR_MS, hourOf, startOf } from "../../domain/id-time.ts";
import { compareStaleHours, type StaleHour } from "../engine/store.ts";
import {
  NO_SCOPE_DAYS,
  NO_TOTALS_MS,
  type RollUpCursor,
  readCursor,
  type TimeRange,
} from "../queries/coverage.ts";
import { createValues } from "../queries/query.ts";
import { findHold, findHour, sumDay, sumHour, sumJournal, sumTotalDay, sumTotalHours } from "./aggregate.ts";
import { recomputeStale } from "./recompute.ts";
import { beginScopes, closeNextScopeDay, closeOlderScopeDay } from "./scope-days.ts";
import {
  type CursorRanges,
  GRACE_MS,
  LEASE_MS,
  type RecomputedHour,
  type RollUpGroup,
  type RollUpJob,
  type RollUpStore,
  writeGroups,
} from "./store.ts";
import { beginTotals, closeOlderTotals } from "./totals.ts";

interface RollUpOptions {
  /** The most scopes of a wallet, day and kind that get rows of their own. */
  readonly ownRowsMax?: number;
  /** Ends a day by scope between two of its hours, which may take minutes together. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Takes one step: closes an hour or a day, recomputes a stale hour, sums up transfers, closes an older hour of a
 * first run, or sums up a day by scope.
 * Returns whether there may be more to do. Several processes may call it at once, and it may be killed at any
 * moment: a roll-up is read only when the write that ends its step has been committed.
 */
export async function rollUpOnce(
  store: RollUpStore,
  { ownRowsMax = OWN_ROWS_MAX, signal }: RollUpOptions = {},
): Promise<boolean> {
  if (!(await store.takeLease(LEASE_MS))) return false;
  const nowMs = await store.now();
  const closedMs = startOf(nowMs - GRACE_MS, HOUR_MS);
  const { cursor, fenceMs, receiptsFromMs } = await readState(store);
  if (fenceMs < closedMs && !(await store.raiseFence(closedMs))) return false;
  const job = { store, cursor, nowMs, receiptsFromMs, ownRowsMax, signal };
  if (cursor.hours.toMs === 0) return begin(job, closedMs);
  if (cursor.totalsFromMs === NO_TOTALS_MS) return beginTotals(job);
  if (cursor.scopes === NO_SCOPE_DAYS) return beginScopes(job);
  return (
    (cursor.hours.toMs < closedMs && (await closeNewest(job, closedMs))) ||
    (await closeNextDay(job)) ||
    (await recomputeStale(job)) ||
    (await sumJournal(store)) ||
    (await closeOlderTotals(job)) ||
    (await closeOlder(job)) ||
    (await closeOlderDay(job)) ||
    (await closeNextScopeDay(job)) ||
    (await closeOlderScopeDay(job))
  );
}

async function readState({ runShort }: RollUpStore) {
  const [row] = await runShort({
    sql: `SELECT * FROM usage_cursor CROSS JOIN (SELECT fence_ms FROM usage_fence) AS fence
      CROSS JOIN (SELECT receipts_from_ms FROM retention) AS kept`,
    values: [],
  });
  return {
    cursor: readCursor(row),
    fenceMs: Number(row?.fence_ms ?? 0),
    receiptsFromMs: Number(row?.receipts_from_ms ?? 0),
  };
}

/** Begins with no hours, from which both ends grow: newer hours first. */
function begin({ store, cursor: { version } }: RollUpJob, closedMs: number): Promise<boolean> {
  const dayMs = startOf(closedMs, DAY_MS);
  const hours = { fromMs: closedMs, toMs: closedMs };
  const days = { fromMs: dayMs, toMs: dayMs };
  const cursor = { hours, days, totalsFromMs: closedMs, scopes: days };
  return store.write({ version, cursor, beginsTotals: true, beginsScopes: true });
}

/** Closes the first hour that is not closed, or skips to the first that has receipts. */
async function closeNewest(job: RollUpJob, closedMs: number): Promise<boolean> {
  const { hours } = job.cursor;
  const next = await sumClosed(job.store, hours.toMs);
  if (next.groups.length > 0 || next.stale.length > 0) {
    return closeHour(job, next, { ...hours, toMs: hours.toMs + HOUR_MS });
  }
  const holdId = await findHold(job.store, { fromMs: hours.toMs, toMs: closedMs }, "oldest");
  return moveHours(job, { ...hours, toMs: holdId === undefined ? closedMs : hourOf(holdId) });
}

/** Closes the hour before the closed ones, or skips to the last that has receipts. At the end it is 1970. */
async function closeOlder(job: RollUpJob): Promise<boolean> {
  const { hours } = job.cursor;
  if (hours.fromMs <= 0) return false;
  const startMs = hours.fromMs - HOUR_MS;
  const next = await sumClosed(job.store, startMs);
  if (next.groups.length > 0 || next.stale.length > 0)
    return closeHour(job, next, { ...hours, fromMs: startMs });
  const holdId = await findHold(job.store, { fromMs: 0, toMs: hours.fromMs }, "newest");
  return moveHours(job, { ...hours, fromMs: holdId === undefined ? 0 : hourOf(holdId) + HOUR_MS });
}

function moveHours({ store, cursor }: RollUpJob, moved: TimeRange): Promise<boolean> {
  const { version, hours } = cursor;
  // A hold that was added since the search: the next step sees it.
  if (moved.fromMs === hours.fromMs && moved.toMs === hours.toMs) return Promise.resolve(true);
  return store.write({ version, cursor: withHours(cursor, moved) });
}

/** The cursor with other hours. Totals that reach back to the first hour still do. */
function withHours({ hours, totalsFromMs, ...others }: RollUpCursor, moved: TimeRange): CursorRanges {
  const fromMs = totalsFromMs <= hours.fromMs ? moved.fromMs : totalsFromMs;
  return { ...others, hours: moved, totalsFromMs: fromMs };
}

/** The sums of an hour, to be written as closed. */
interface ClosedHour {
  readonly groups: readonly RollUpGroup[];
  /** The hours that stay stale: their wallets have open holds in it. */
  readonly stale: readonly StaleHour[];
  readonly fresh: readonly RecomputedHour[];
}

/** Reads first what is stale and open, and then the receipts: a later change is then counted as one. */
async function sumClosed(store: RollUpStore, startMs: number): Promise<ClosedHour> {
  const recorded = await readStaleOf(store, startMs);
  const open = await readOpenWallets(store, startMs);
  const groups = await sumHour(store, { startMs });
  return {
    groups: groups.filter(({ walletId = "" }) => !open.has(walletId)),
    stale: [...open].map((walletId) => ({ walletId, startMs })).sort(compareStaleHours),
    fresh: recorded.filter(({ walletId }) => !open.has(walletId)),
  };
}

async function readStaleOf(
  { runShort: run, dialect }: RollUpStore,
  startMs: number,
): Promise<readonly RecomputedHour[]> {
  const values = createValues(dialect);
  const sql = `SELECT wallet_id, changes FROM usage_stale WHERE start_ms = ${values.add(startMs)}`;
  const rows = await run({ sql, values: values.all });
  return rows.map((row) => ({ walletId: String(row.wallet_id), startMs, changes: Number(row.changes) }));
}

async function readOpenWallets(
  { runShort: run, dialect }: RollUpStore,
  startMs: number,
): Promise<ReadonlySet<string>> {
  const values = createValues(dialect);
  const sql = `SELECT DISTINCT wallet_id FROM ${dialect.openHolds} WHERE state = 'held'
    AND hold_id >= ${values.add(firstIdOf(startMs))} AND hold_id < ${values.add(firstIdOf(startMs + HOUR_MS))}`;
  return new Set((await run({ sql, values: values.all })).map((row) => String(row.wallet_id)));
}

/** Writes the hour of each wallet, and then that of all: both become visible with the new cursor. */
async function closeHour(
  { store, cursor }: RollUpJob,
  { groups, stale, fresh }: ClosedHour,
  hours: TimeRange,
): Promise<boolean> {
  const version = await writeGroups(store, cursor.version, { table: "usage_hours", groups });
  if (version === undefined) return false;
  const startMs = hours.toMs > cursor.hours.toMs ? cursor.hours.toMs : hours.fromMs;
  const totals = await sumTotalHours(store, [startMs]);
  const moved = withHours(cursor, hours);
  const final = { table: "usage_total_hours", groups: totals, cursor: moved, stale, fresh } as const;
  return (await writeGroups(store, version, final)) !== undefined;
}

/** Closes the first day that is not closed, or skips to the first that has roll-ups of hours. */
async function closeNextDay(job: RollUpJob): Promise<boolean> {
  const { hours, days } = job.cursor;
  const endMs = startOf(hours.toMs, DAY_MS);
  if (hours.fromMs > days.toMs || days.toMs >= endMs) return false;
  const groups = await sumDay(job.store, { startMs: days.toMs });
  if (groups.length > 0) {
    return closeDay(job, { startMs: days.toMs, groups, days: { ...days, toMs: days.toMs + DAY_MS } });
  }
  const nextMs = await findHour(job.store, "min", { fromMs: days.toMs, toMs: endMs });
  return moveDays(job, { ...days, toMs: nextMs === undefined ? endMs : startOf(nextMs, DAY_MS) });
}

/** Closes the day before the closed ones, or skips to the last that has roll-ups of hours. */
async function closeOlderDay(job: RollUpJob): Promise<boolean> {
  const { hours, days } = job.cursor;
  const startMs = days.fromMs - DAY_MS;
  if (days.fromMs <= 0 || hours.fromMs > startMs) return false;
  const groups = await sumDay(job.store, { startMs });
  if (groups.length > 0) return closeDay(job, { startMs, groups, days: { ...days, fromMs: startMs } });
  const lastMs = await findHour(job.store, "max", { fromMs: 0, toMs: days.fromMs });
  const emptyFromMs = lastMs === undefined ? 0 : startOf(lastMs, DAY_MS) + DAY_MS;
  // Not before the closed hours: the days there may get roll-ups yet.
  const fromMs = Math.max(emptyFromMs, startOf(hours.fromMs + DAY_MS - 1, DAY_MS));
  return moveDays(job, { ...days, fromMs });
}

interface ClosedDay {
  readonly startMs: number;
  readonly groups: readonly RollUpGroup[];
  /** The closed days with this one. */
  readonly days: TimeRange;
}

/** Writes the day of each wallet, and then that of all: both become visible with the new cursor. */
async function closeDay(
  { store, cursor }: RollUpJob,
  { startMs, groups, days }: ClosedDay,
): Promise<boolean> {
  const version = await writeGroups(store, cursor.version, { table: "usage_days", groups });
  if (version === undefined) return false;
  const final = {
    table: "usage_total_days",
    groups: await sumTotalDay(store, startMs),
    cursor: { ...cursor, days },
  } as const;
  return (await writeGroups(store, version, final)) !== undefined;
}

function moveDays({ store, cursor }: RollUpJob, days: TimeRange): Promise<boolean> {
  return store.write({ version: cursor.version, cursor: { ...cursor, days } });
}
