import { DAY_MS, firstIdOf, startOf, timeOf } from "../../domain/id-time.ts";
import { ceilOf, type TimeRange } from "../queries/coverage.ts";
import { createValues } from "../queries/query.ts";
import { findHold, type Scope } from "./aggregate.ts";
import { readSums, type ScopeSums, sumScopes } from "./scope-sums.ts";
import { goesOn, ROWS_PER_WRITE, type RollUpJob, type ScopeGroup, type ScopePosition } from "./store.ts";

// Scope days are summed from receipts, after all other roll-ups: a closed day is read from receipts until then.

/** Begins with no scope days: there are none yet, or another program has changed roll-ups without them. */
export function beginScopes({ store, cursor }: RollUpJob): Promise<boolean> {
  const { version, days } = cursor;
  const scopes = { fromMs: days.toMs, toMs: days.toMs };
  return store.write({ version, cursor: { ...cursor, scopes }, beginsScopes: true });
}

/** Sums up the first closed day that is not summed up by scope. Days whose receipts are gone come to an end there. */
export async function closeNextScopeDay(job: RollUpJob): Promise<boolean> {
  const { store, cursor, receiptsFromMs } = job;
  const { scopes, days } = cursor;
  if (scopes.toMs >= days.toMs) return false;
  const keptFromMs = ceilOf(receiptsFromMs, DAY_MS);
  if (keptFromMs > scopes.toMs) return moveScopes(job, { fromMs: keptFromMs, toMs: keptFromMs });
  const holdId = await findHold(store, { fromMs: scopes.toMs, toMs: days.toMs }, "oldest");
  if (holdId === undefined) return moveScopes(job, { ...scopes, toMs: days.toMs });
  const startMs = startOf(timeOf(holdId), DAY_MS);
  return closeScopeDay(job, startMs, { ...scopes, toMs: startMs + DAY_MS });
}

/** Sums up the last day with receipts before those that are summed up by scope, as far as receipts are kept. */
export async function closeOlderScopeDay(job: RollUpJob): Promise<boolean> {
  const { store, cursor, receiptsFromMs } = job;
  const { scopes, days } = cursor;
  const oldestMs = Math.max(days.fromMs, ceilOf(receiptsFromMs, DAY_MS));
  if (scopes.fromMs <= oldestMs) return false;
  const holdId = await findHold(store, { fromMs: oldestMs, toMs: scopes.fromMs }, "newest");
  if (holdId === undefined) return moveScopes(job, { ...scopes, fromMs: oldestMs });
  const startMs = startOf(timeOf(holdId), DAY_MS);
  return closeScopeDay(job, startMs, { ...scopes, fromMs: startMs });
}

/** Writes a day of all wallets, and the days that are summed up by scope with it. */
async function closeScopeDay(job: RollUpJob, startMs: number, scopes: TimeRange): Promise<boolean> {
  const version = await writeScopeDay(job, job.cursor.version, { startMs });
  return version !== undefined && moveScopes(job, scopes, version);
}

function moveScopes({ store, cursor }: RollUpJob, scopes: TimeRange, version = cursor.version) {
  return store.write({ version, cursor: { ...cursor, scopes } });
}

/** Whether a day is summed up by scope, and its receipts are kept. Sums of dropped receipts stay as they are. */
export function isInScopeDays({ cursor: { scopes }, receiptsFromMs }: RollUpJob, startMs: number): boolean {
  return startMs >= scopes.fromMs && startMs < scopes.toMs && startMs >= receiptsFromMs;
}

/**
 * Sums up a day, of one wallet or of all, and replaces its rows while no reader reads them. Returns the version after
 * it; `undefined` when another job has written or taken the lease, or receipts of the day were dropped meanwhile.
 */
export async function writeScopeDay(
  job: RollUpJob,
  version: number,
  day: Scope,
): Promise<number | undefined> {
  const { store } = job;
  if (!(await hasScopes(job, day))) return version;
  return store.withScratch(async (run) => {
    if (!(await sumScopes(job, run, day)) || !(await areKept(job, day))) return undefined;
    let written = version;
    let after: ScopeSums | undefined;
    for (;;) {
      // One more, which shows whether the last wallet goes on.
      const found = await readSums(run, store.dialect, { after, rowsMax: ROWS_PER_WRITE + 1 });
      const rows = found.slice(0, ROWS_PER_WRITE);
      const next = found.at(ROWS_PER_WRITE);
      const scopeGroups = groupRows(rows, { startMs: day.startMs, after, next });
      if (!(await store.write({ version: written, scopeGroups }))) return undefined;
      written += 1;
      if (!next) return written;
      if (!(await goesOn(job))) return undefined;
      after = rows.at(-1);
    }
  });
}

/** Whether a receipt of the day has scopes: most gateways need no sums by scope. */
async function hasScopes({ store }: RollUpJob, { startMs, walletId }: Scope): Promise<boolean> {
  const values = createValues(store.dialect);
  const ofWallet = walletId === undefined ? "" : `AND wallet_id = ${values.add(walletId)}`;
  const sql = `SELECT 1 AS found FROM holds WHERE hold_id >= ${values.add(firstIdOf(startMs))}
    AND hold_id < ${values.add(firstIdOf(startMs + DAY_MS))} AND scopes IS NOT NULL ${ofWallet} LIMIT 1`;
  return (await store.run({ sql, values: values.all })).length > 0;
}

/** Whether all receipts of a day are still there. */
async function areKept({ store }: RollUpJob, { startMs }: Scope): Promise<boolean> {
  const [row] = await store.runShort({ sql: "SELECT receipts_from_ms FROM retention", values: [] });
  return Number(row?.receipts_from_ms ?? 0) <= startMs;
}

const FIRST: ScopePosition = { kind: "", id: "" };
/** After every kind. */
const LAST: ScopePosition = { kind: "\u{10ffff}", id: "" };

interface Page {
  readonly startMs: number;
  /** The row before the page. */
  readonly after: ScopeSums | undefined;
  /** The row after the page. */
  readonly next: ScopeSums | undefined;
}

/** Makes the groups of one page of rows. Each replaces its part of the order, so that leftovers go. */
function groupRows(rows: readonly ScopeSums[], { startMs, after, next }: Page): readonly ScopeGroup[] {
  const groups = Map.groupBy(rows, ({ walletId }) => walletId);
  return [...groups].map(([walletId, ofWallet]) => ({
    walletId,
    startMs,
    rows: ofWallet.map(({ kind, id, values }) => [walletId, startMs, kind, id, ...values]),
    after: after?.walletId === walletId ? after : FIRST,
    upTo: next?.walletId === walletId ? (ofWallet.at(-1) ?? LAST) : LAST,
  }));
}
