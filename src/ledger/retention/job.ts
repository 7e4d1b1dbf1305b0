import { DAY_MS, firstIdOf, HOUR_MS, hourOf, startOf } from "../../domain/id-time.ts";
import { ceilOf, NO_SCOPE_DAYS, type RollUpCursor, readCursor, type TimeRange } from "../queries/coverage.ts";
import { createValues, type Dialect, type RunQuery } from "../queries/query.ts";
import { prunedBeforeMs } from "./counters.ts";
import { differencesSql } from "./sums.ts";

/** Which receipts are kept. */
export interface RetentionPolicy {
  /** Receipts of requests that began this many days ago are dropped; from 1. */
  readonly receiptsDays: number;
  /**
   * Returns the Unix milliseconds from which on a reader needs receipts, such as an export that lags. They are
   * kept. Default: none does.
   */
  keepFromMs?(): Promise<number | undefined>;
}

/** Where receipts are dropped. */
export interface RetentionStore {
  readonly dialect: Dialect;
  /** Runs a query of many rows, off the event loop. */
  readonly run: RunQuery;
  /** Unix milliseconds, by the clock that all processes of the database share. */
  now(): Promise<number>;
  /** Takes or renews the lease of the job for `leaseMs`. `false` while another process has it. */
  takeLease(leaseMs: number): Promise<boolean>;
  saveClock(clock: SeenClock): Promise<void>;
  /**
   * Finds what the next drop removes at once: at least the hour, at most what ends at the boundary.
   * `undefined` while the hour is in a part of the storage that has newer receipts too.
   */
  unitOf(hourMs: number, boundaryMs: number): Promise<DropUnit | undefined>;
  /**
   * Drops the receipts of a unit that was compared with its usage, or some of them. What is dropped is recorded
   * in the same transaction. Ends early when a receipt of it has changed meanwhile.
   */
  drop(unit: DropUnit): Promise<DropProgress>;
  /**
   * Deletes counters of periods that began before a time, and limits that were deleted before it, some at once.
   * Returns how many.
   */
  pruneCounters(beforeMs: number): Promise<number>;
  /** Returns freed space to the disk, in short steps. Returns how many bytes. */
  shrink(): Promise<number>;
  /** Resolves when a running step has ended, soon: it may be in the middle. */
  close(): Promise<void>;
}

/** Receipts that are dropped together. */
export interface DropUnit extends TimeRange {
  /** The table that holds them, and nothing else; `undefined` for a table that has others. */
  readonly table: string | undefined;
}

export interface DropProgress {
  readonly receipts: number;
  /** `partly`: the next step goes on. `changed`: a receipt has changed, and its hour must be summed up first. `busy`: others use the table. */
  readonly state: "dropped" | "partly" | "changed" | "busy";
}

/** When retention last looked at the clock, and until when it drops nothing. 0: never, and not at all. */
interface SeenClock {
  readonly seenAtMs: number;
  readonly pausedUntilMs: number;
}

/** Longer than a step of the job. */
const LEASE_MS = 120_000;
/** The clock is saved this often: in SQLite each write of another connection drops the books in memory. */
const LOOK_MS = 3_600_000;

/** What a step of retention did. */
export interface RetentionStep {
  /** How many receipts were dropped. */
  readonly receipts: number;
  /** The Unix milliseconds before which receipts are gone. */
  readonly clearedToMs: number;
  /** Bytes that were returned to the disk. */
  readonly bytes: number;
  /** Whether there may be more to do at once. */
  readonly isMore: boolean;
  /** Why nothing more is dropped, when that is no ordinary reason. */
  readonly stopped?: "clock_jumped" | "usage_differs" | undefined;
}

/**
 * Takes one step: drops the oldest receipts that the policy no longer keeps, at most an hour or a partition of
 * them, or else returns freed space to the disk. Several processes may call it at once, and it may be killed at
 * any moment. Transfers, ids and usage stay, and the counters of periods of which receipts are kept.
 */
export async function retainOnce(store: RetentionStore, policy: RetentionPolicy): Promise<RetentionStep> {
  if (!(await store.takeLease(LEASE_MS))) return { ...NOTHING, clearedToMs: 0 };
  const state = await readRetention(store);
  const nowMs = await store.now();
  const nothing = { ...NOTHING, clearedToMs: state.clearedToMs };
  const clock = lookAtClock(state, nowMs, state.newestMs);
  const isNews = clock.pausedUntilMs !== state.pausedUntilMs || nowMs - state.seenAtMs > LOOK_MS;
  if (isNews || nowMs < state.seenAtMs) await store.saveClock(clock);
  if (clock.pausedUntilMs > 0) return { ...nothing, stopped: "clock_jumped" };
  const boundaryMs = await nextBoundary(state, nowMs, policy);
  const unit = boundaryMs === undefined ? undefined : await findUnit(store, state, boundaryMs);
  if (!unit) {
    const counters = boundaryMs === undefined ? 0 : await store.pruneCounters(prunedBeforeMs(boundaryMs));
    if (counters > 0) return { ...nothing, isMore: true };
    const bytes = await store.shrink();
    return { ...nothing, bytes, isMore: bytes > 0 };
  }
  // Compared before any of it is dropped, so that drift is never buried.
  if (unit.toMs > state.receiptsFromMs && (await differs(store, unit))) {
    return { ...nothing, stopped: "usage_differs" };
  }
  const { receipts, state: outcome } = await store.drop(unit);
  const isMore = outcome === "dropped" || outcome === "partly";
  const clearedToMs = outcome === "dropped" ? unit.toMs : state.clearedToMs;
  return { receipts, bytes: 0, isMore, clearedToMs };
}

const NOTHING = { receipts: 0, bytes: 0, isMore: false } as const;

/** What is known of old receipts. */
interface RetentionState extends SeenClock {
  readonly receiptsFromMs: number;
  readonly clearedToMs: number;
  readonly cursor: RollUpCursor;
  readonly unsettledMs: number | undefined;
  /** The newest hour that is summed up. */
  readonly newestMs: number | undefined;
}

/** Reads how far receipts were dropped, and what bounds the next drop. */
export async function readRetention({
  run,
  dialect,
}: Pick<RetentionStore, "run" | "dialect">): Promise<RetentionState> {
  const sql = `SELECT usage_cursor.*, receipts_from_ms, cleared_to_ms, seen_at_ms, paused_until_ms,
      (SELECT min(start_ms) FROM usage_stale) AS stale_ms, (SELECT max(start_ms) FROM usage_total_hours) AS newest_ms,
      (SELECT hold_id FROM ${dialect.openHolds} WHERE state = 'held' ORDER BY hold_id LIMIT 1) AS open_id
    FROM usage_cursor CROSS JOIN retention`;
  const [row] = await run({ sql, values: [] });
  const number = (name: string) => Number(row?.[name] ?? 0);
  const optional = (name: string) => (row?.[name] == null ? undefined : Number(row[name]));
  const openMs = row?.open_id == null ? undefined : hourOf(String(row.open_id));
  return {
    receiptsFromMs: number("receipts_from_ms"),
    clearedToMs: number("cleared_to_ms"),
    seenAtMs: number("seen_at_ms"),
    pausedUntilMs: number("paused_until_ms"),
    cursor: readCursor(row),
    unsettledMs: least(optional("stale_ms"), openMs),
    newestMs: optional("newest_ms"),
  };
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/**
 * Returns the time before which receipts may be dropped; `undefined` while usage is being summed up for the first
 * time, which must outlive them.
 */
export async function nextBoundary(
  { cursor, unsettledMs, receiptsFromMs }: RetentionState,
  nowMs: number,
  { receiptsDays, keepFromMs }: RetentionPolicy,
): Promise<number | undefined> {
  const { hours, totalsFromMs, scopes } = cursor;
  const isBegun = hours.toMs > 0 && scopes !== NO_SCOPE_DAYS;
  if (!isBegun || hours.fromMs > 0 || totalsFromMs > 0) return undefined;
  // A day that lost receipts before it was summed up by scope never is.
  if (scopes.fromMs > ceilOf(receiptsFromMs, DAY_MS)) return undefined;
  const neededFromMs = await keepFromMs?.();
  const rolledUpToMs = Math.min(hours.toMs, scopes.toMs);
  return boundaryOf({ nowMs, receiptsDays, rolledUpToMs, unsettledMs, neededFromMs });
}

async function findUnit(store: RetentionStore, { clearedToMs }: RetentionState, boundaryMs: number) {
  const { run, dialect } = store;
  const values = createValues(dialect);
  const sql = `SELECT min(start_ms) AS hour_ms FROM usage_total_hours
    WHERE start_ms >= ${values.add(clearedToMs)} AND start_ms < ${values.add(boundaryMs)}`;
  const [row] = await run({ sql, values: values.all });
  if (row?.hour_ms == null) return undefined;
  return store.unitOf(Number(row.hour_ms), boundaryMs);
}

/** Whether receipts and usage of a unit differ. */
async function differs({ run, dialect }: RetentionStore, { fromMs, toMs, table }: DropUnit) {
  const values = createValues(dialect);
  const condition = `hold_id >= ${values.add(firstIdOf(fromMs))} AND hold_id < ${values.add(firstIdOf(toMs))}`;
  const range = { fromMs: values.add(fromMs), toMs: values.add(toMs) };
  const sql = differencesSql(dialect, { table: table ?? "holds", condition }, range);
  const [row] = await run({ sql, values: values.all });
  return Number(row?.differences) > 0;
}

/** What bounds a drop, in Unix milliseconds. */
interface Bounds {
  readonly nowMs: number;
  readonly receiptsDays: number;
  /** The end of the hours that are summed up, those of a day also by scope. */
  readonly rolledUpToMs: number;
  /** The oldest hour that has an open hold, or waits to be summed up again. */
  readonly unsettledMs: number | undefined;
  /** The oldest receipt that a reader still needs. */
  readonly neededFromMs: number | undefined;
}

/** A new hold may have an id of a day ago. This much more keeps its receipt from being dropped under it. */
const MARGIN_MS = HOUR_MS;

/** Returns the start of the hour before which receipts may be dropped. */
export function boundaryOf(bounds: Bounds): number {
  const { nowMs, receiptsDays, rolledUpToMs, unsettledMs, neededFromMs } = bounds;
  const oldestMs = nowMs - receiptsDays * DAY_MS - MARGIN_MS;
  return startOf(
    Math.min(oldestMs, rolledUpToMs, unsettledMs ?? oldestMs, neededFromMs ?? oldestMs),
    HOUR_MS,
  );
}

/** A clock further ahead than this was set ahead, or nothing ran for days. */
export const JUMP_MAX_MS = 3 * DAY_MS;
/** After a jump ahead, the time for which the new clock must be seen before it is believed. */
export const PAUSE_MS = DAY_MS;

/**
 * Compares the clock with the last look. A jump ahead pauses drops for a day, and a correction ends the pause:
 * a wrong clock must not drop every receipt. The first look is compared with the newest receipt.
 */
export function lookAtClock(before: SeenClock, nowMs: number, newestMs: number | undefined): SeenClock {
  const lastMs = before.seenAtMs || (newestMs ?? nowMs);
  if (nowMs < lastMs - HOUR_MS) return { seenAtMs: nowMs, pausedUntilMs: 0 };
  if (nowMs - lastMs > JUMP_MAX_MS) return { seenAtMs: nowMs, pausedUntilMs: nowMs + PAUSE_MS };
  return { seenAtMs: nowMs, pausedUntilMs: before.pausedUntilMs > nowMs ? before.pausedUntilMs : 0 };
}
