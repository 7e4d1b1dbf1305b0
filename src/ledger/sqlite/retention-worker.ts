import { Database, SQLiteError } from "bun:sqlite";
import { parentPort } from "node:worker_threads";
import { firstIdOf } from "../../domain/id-time.ts";
import { SQLITE } from "../queries/query.ts";
import {
  PRUNE_COUNTERS,
  PRUNE_DELETED,
  PRUNE_DROPPED,
  PRUNE_LIMITS,
  type PrunedCounter,
} from "../retention/counters.ts";
import type { DropProgress, DropUnit } from "../retention/job.ts";
import { recordStatements } from "../retention/sums.ts";

/** Work of the worker on one SQLite file. */
export type RetentionWork =
  | { readonly kind: "drop"; readonly path: string; readonly unit: DropUnit }
  | { readonly kind: "prune"; readonly path: string; readonly beforeMs: number }
  | { readonly kind: "shrink"; readonly path: string };

/** What the work has done, or the code of its fault. */
export type RetentionReply =
  | { readonly progress: DropProgress }
  | { readonly counters: number }
  | { readonly bytes: number }
  | { readonly fault: string };

/** The intended length of a write transaction. Requests wait for its end. */
const WRITE_MS = 2;
/** The pause after a write transaction, as a multiple of its length: requests have the file meanwhile. */
const REST = 9;
const ROWS_MIN = 10;
const ROWS_MAX = 2_000;
const PAGES_MAX = 1_000;
/** Milliseconds of one piece of work: a stopping process waits for its end. */
const WORK_MS_MAX = 1_000;
/** Free pages that are kept for new receipts: a part of the file, and at least 16 MiB. */
const KEPT_PART = 0.1;
const KEPT_MIN = 4_000;
/** Milliseconds that a write waits for another process. */
const BUSY_MS = 5_000;

/** What the work takes from its thread. */
export interface WorkPace {
  /** Milliseconds of a clock that cannot be set. */
  monotonicMs(): number;
  /** Leaves the file to requests for so long. */
  rest(ms: number): void;
  /** Milliseconds that a write waits for another process. */
  readonly busyMs: number;
  /** The rows of the last transaction: the next piece of work begins with as many. */
  rows: number;
}

/** Returns what does the work, one piece after another. */
export function createRetentionWork(
  options: Omit<WorkPace, "rows">,
): (work: RetentionWork) => RetentionReply {
  const pace: WorkPace = { ...options, rows: ROWS_MIN };
  return (work) => {
    const client = new Database(work.path, { readwrite: true, strict: true });
    try {
      client.run(`PRAGMA busy_timeout = ${pace.busyMs}`);
      // A commit that a loss of power forgets is made again.
      client.run("PRAGMA synchronous = NORMAL");
      if (work.kind === "drop") return { progress: drop(client, work.unit, pace) };
      if (work.kind === "prune") return { counters: prune(client, work.beforeMs, pace) };
      return { bytes: shrink(client, pace) };
    } catch (error) {
      return { fault: error instanceof SQLiteError ? (error.code ?? error.message) : String(error) };
    } finally {
      client.close();
    }
  };
}

const MACHINE = { monotonicMs: () => performance.now(), rest: Bun.sleepSync, busyMs: BUSY_MS };
const work = createRetentionWork(MACHINE);
parentPort?.on("message", (next: RetentionWork) => parentPort?.postMessage(work(next)));

/** Drops the receipts of a unit, the oldest first, in transactions of about {@link WRITE_MS}. */
function drop(client: Database, unit: DropUnit, pace: WorkPace): DropProgress {
  const dropSome = prepareDrop(client, unit);
  const endMs = pace.monotonicMs() + WORK_MS_MAX;
  let receipts = 0;
  while (pace.monotonicMs() < endMs) {
    const { dropped, isDone, ms } = timed(pace, () => dropSome(pace.rows));
    receipts += dropped;
    if (isDone !== false) return { receipts, state: isDone };
    pace.rows = adapt(pace.rows, ms, ROWS_MAX);
    pace.rest(ms * REST);
  }
  return { receipts, state: "partly" };
}

interface Drop {
  readonly dropped: number;
  /** `false` while receipts of the unit are left. */
  readonly isDone: false | "dropped" | "changed";
}

/** Returns what drops a number of receipts in one transaction. */
function prepareDrop(client: Database, { fromMs, toMs }: DropUnit): (rows: number) => Drop {
  const [fromId, endId] = [firstIdOf(fromMs), firstIdOf(toMs)];
  const source = { table: "holds", condition: "hold_id >= ?1 AND hold_id < ?2" };
  const isChanged = client.query<object, [number, string]>(
    `SELECT 1 FROM usage_stale WHERE start_ms < ?1 UNION ALL SELECT 1 FROM holds INDEXED BY holds_open
      WHERE state = 'held' AND hold_id < ?2 LIMIT 1`,
  );
  const raise = client.query<never, [number]>(
    "UPDATE retention SET receipts_from_ms = ?1 WHERE receipts_from_ms < ?1",
  );
  const clear = client.query<never, [number]>("UPDATE retention SET cleared_to_ms = ?1");
  const next = client.query<{ hold_id: string }, [string, string, number]>(
    "SELECT hold_id FROM holds WHERE hold_id >= ?1 AND hold_id < ?2 ORDER BY hold_id LIMIT 1 OFFSET ?3",
  );
  const record = recordStatements(SQLITE, source).map((sql) => client.query<never, [string, string]>(sql));
  const remove = client.query<never, [string, string]>(
    `DELETE FROM ${source.table} WHERE ${source.condition}`,
  );
  const dropSome = (rows: number): Drop => {
    if (isChanged.get(toMs, endId)) return { dropped: 0, isDone: "changed" };
    const untilId = next.get(fromId, endId, rows)?.hold_id;
    raise.run(toMs);
    for (const statement of record) statement.run(fromId, untilId ?? endId);
    const { changes } = remove.run(fromId, untilId ?? endId);
    if (untilId === undefined) clear.run(toMs);
    return { dropped: changes, isDone: untilId === undefined && "dropped" };
  };
  return (rows) => client.transaction(dropSome).immediate(rows);
}

/** Deletes counters of past periods and deleted limits, in transactions of about {@link WRITE_MS}. Returns how many. */
function prune(client: Database, beforeMs: number, pace: WorkPace): number {
  const dropped = client.query<never, [string, string, number]>(PRUNE_DROPPED);
  const forget = (pruned: readonly PrunedCounter[]) => {
    for (const { wallet_id, limit_id, period_start_ms } of pruned)
      dropped.run(wallet_id, limit_id, Number(period_start_ms));
    return pruned.length;
  };
  const past = client.query<PrunedCounter, [number, number]>(PRUNE_COUNTERS);
  const deleted = client.query<PrunedCounter, [number, null, number]>(PRUNE_DELETED);
  const limits = client.query<object, [number, null, number]>(PRUNE_LIMITS);
  const steps = [
    (rows: number) => forget(past.all(beforeMs, rows)),
    (rows: number) => forget(deleted.all(beforeMs, null, rows)),
    (rows: number) => limits.all(beforeMs, null, rows).length,
  ];
  const endMs = pace.monotonicMs() + WORK_MS_MAX;
  return steps.reduce((count, step) => count + pruneUntil(client, step, { pace, endMs }), 0);
}

/** Repeats a step, which deletes a number of rows and returns how many there were, until none is left. */
function pruneUntil(
  client: Database,
  step: (rows: number) => number,
  { pace, endMs }: { readonly pace: WorkPace; readonly endMs: number },
): number {
  const transaction = client.transaction(step);
  let count = 0;
  while (pace.monotonicMs() < endMs) {
    const { pruned, ms } = timed(pace, () => ({ pruned: transaction.immediate(pace.rows) }));
    count += pruned;
    if (pruned < pace.rows) break;
    pace.rows = adapt(pace.rows, ms, ROWS_MAX);
    pace.rest(ms * REST);
  }
  return count;
}

/**
 * Returns free pages to the disk, in transactions of about {@link WRITE_MS}. Does nothing in a file that was
 * created before free pages could be returned: its free pages are used again.
 */
function shrink(client: Database, pace: WorkPace): number {
  const read = (name: string) => Number(client.query(`PRAGMA ${name}`).values()[0]?.[0] ?? 0);
  if (read("auto_vacuum") !== 2) return 0;
  const before = read("page_count");
  const beganAtMs = pace.monotonicMs();
  for (let pages = ROWS_MIN; pace.monotonicMs() - beganAtMs < WORK_MS_MAX; ) {
    const kept = Math.max(KEPT_MIN, read("page_count") * KEPT_PART);
    const spare = Math.floor(read("freelist_count") - kept);
    if (spare <= 0) break;
    // All rows, because each step of the statement frees one page.
    const vacuum = client.query(`PRAGMA incremental_vacuum(${Math.min(pages, spare)})`);
    const { ms } = timed(pace, () => ({ rows: vacuum.all() }));
    pages = adapt(pages, ms, PAGES_MAX);
    pace.rest(ms * REST);
  }
  return (before - read("page_count")) * read("page_size");
}

function timed<Result extends object>(
  { monotonicMs }: WorkPace,
  step: () => Result,
): Result & { readonly ms: number } {
  const beganAtMs = monotonicMs();
  return { ...step(), ms: monotonicMs() - beganAtMs };
}

/** Grows slowly and shrinks at once, so that few transactions are longer than {@link WRITE_MS}. */
function adapt(count: number, ms: number, max: number): number {
  const fitting = (count * WRITE_MS) / Math.max(ms, 0.1);
  return Math.round(Math.min(max, Math.max(ROWS_MIN, Math.min(fitting, count * 1.5))));
}
