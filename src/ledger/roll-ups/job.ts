import type { StaleHour } from "../engine/stale-hours.ts";
import { compareStaleHours } from "../engine/stale-hours.ts";
import { type RollUpCursor, readCursor, type TimeRange } from "../queries/coverage.ts";
import { DAY_MS, firstIdOf, HOUR_MS, hourOf, startOf } from "../queries/hold-time.ts";
import { createValues } from "../queries/query.ts";
import { findHold, sumDay, sumHour } from "./aggregate.ts";
import { recomputeStale } from "./recompute.ts";
import { GRACE_MS, type RollUpJob, writeGroups } from "./step.ts";
import type { RecomputedHour, RollUpGroup, RollUpStore } from "./store.ts";

/** Longer than a step of the job. */
const LEASE_MS = 60_000;

/**
 * Takes one step: closes an hour or a day, recomputes a stale hour, or closes an older hour of a first run.
 * Returns whether there may be more to do. Several processes may call it at once, and it may be killed at any
 * moment: a roll-up is read only when the write that ends its step has been committed.
 */
export async function rollUpOnce(store: RollUpStore): Promise<boolean> {
  if (!(await store.takeLease(LEASE_MS))) return false;
  const nowMs = await store.now();
  const closedMs = startOf(nowMs - GRACE_MS, HOUR_MS);
  const { cursor, fenceMs } = await readState(store);
  if (fenceMs < closedMs && !(await store.raiseFence(closedMs))) return false;
  const job = { store, cursor, nowMs };
  if (cursor.hours.toMs === 0) return begin(job, closedMs);
  return (
    (cursor.hours.toMs < closedMs && (await closeNewest(job, closedMs))) ||
    (await closeNextDay(job)) ||
    (await recomputeStale(job)) ||
    (await closeOlder(job)) ||
    (await closeOlderDay(job))
  );
}

async function readState({ runShort }: RollUpStore): Promise<{ cursor: RollUpCursor; fenceMs: number }> {
  const [row] = await runShort({
    sql: "SELECT * FROM usage_cursor CROSS JOIN (SELECT fence_ms FROM usage_fence) AS fence",
    values: [],
  });
  return { cursor: readCursor(row), fenceMs: Number(row?.fence_ms ?? 0) };
}

/** Begins with no hours, from which both ends grow: newer hours first. */
function begin({ store, cursor: { version } }: RollUpJob, closedMs: number): Promise<boolean> {
  const dayMs = startOf(closedMs, DAY_MS);
  const hours = { fromMs: closedMs, toMs: closedMs };
  return store.write({ version, cursor: { hours, days: { fromMs: dayMs, toMs: dayMs } } });
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

function moveHours(
  { store, cursor: { version, hours, days } }: RollUpJob,
  moved: TimeRange,
): Promise<boolean> {
  // A hold that was added since the search: the next step sees it.
  if (moved.fromMs === hours.fromMs && moved.toMs === hours.toMs) return Promise.resolve(true);
  return store.write({ version, cursor: { hours: moved, days } });
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
    groups: groups.filter(({ walletId }) => !open.has(walletId)),
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

function closeHour(job: RollUpJob, { groups, stale, fresh }: ClosedHour, hours: TimeRange): Promise<boolean> {
  const cursor = { hours, days: job.cursor.days };
  return writeGroups(job.store, job.cursor.version, { table: "usage_hours", groups, cursor, stale, fresh });
}

/** Closes the first day that is not closed, or skips to the first that has roll-ups of hours. */
async function closeNextDay({ store, cursor }: RollUpJob): Promise<boolean> {
  const { hours, days } = cursor;
  const endMs = startOf(hours.toMs, DAY_MS);
  if (hours.fromMs > days.toMs || days.toMs >= endMs) return false;
  const groups = await sumDay(store, { startMs: days.toMs });
  const nextMs =
    groups.length > 0 ? undefined : await findHour(store, "min", { fromMs: days.toMs, toMs: endMs });
  const emptyToMs = nextMs === undefined ? endMs : startOf(nextMs, DAY_MS);
  const closed = { hours, days: { ...days, toMs: groups.length > 0 ? days.toMs + DAY_MS : emptyToMs } };
  return writeGroups(store, cursor.version, { table: "usage_days", groups, cursor: closed });
}

/** Closes the day before the closed ones, or skips to the last that has roll-ups of hours. */
async function closeOlderDay({ store, cursor }: RollUpJob): Promise<boolean> {
  const { hours, days } = cursor;
  const startMs = days.fromMs - DAY_MS;
  if (days.fromMs <= 0 || hours.fromMs > startMs) return false;
  const groups = await sumDay(store, { startMs });
  const lastMs =
    groups.length > 0 ? undefined : await findHour(store, "max", { fromMs: 0, toMs: days.fromMs });
  const emptyFromMs = lastMs === undefined ? 0 : startOf(lastMs, DAY_MS) + DAY_MS;
  // Not before the closed hours: the days there may get roll-ups yet.
  const fromMs =
    groups.length > 0 ? startMs : Math.max(emptyFromMs, startOf(hours.fromMs + DAY_MS - 1, DAY_MS));
  const closed = { hours, days: { ...days, fromMs } };
  return writeGroups(store, cursor.version, { table: "usage_days", groups, cursor: closed });
}

/** The first or last hour of a range that has roll-ups. */
async function findHour(
  { run, dialect }: RollUpStore,
  end: "min" | "max",
  { fromMs, toMs }: TimeRange,
): Promise<number | undefined> {
  const values = createValues(dialect);
  const sql = `SELECT ${end}(start_ms) AS hour_ms FROM usage_hours
    WHERE start_ms >= ${values.add(fromMs)} AND start_ms < ${values.add(toMs)}`;
  const [row] = await run({ sql, values: values.all });
  return row === undefined || row.hour_ms === null ? undefined : Number(row.hour_ms);
}
