// The end of runs that are no longer used: their limits and their rows.
import { and, asc, eq, lte } from "drizzle-orm";
import type { Database, Tables } from "../../db/database.ts";
import { DAY_MS } from "../../domain/id-time.ts";
import type { Nanos } from "../../domain/money.ts";
import { scopeOfRun } from "../../domain/scope.ts";
import { type Ledger, LedgerError } from "../../ledger/ledger.ts";

/** A run is removed when it was not used for so many days. */
const UNUSED_DAYS = 30;
/** The runs of one step, and the most steps of one sweep. */
const STEP_RUNS = 100;
const STEPS_MAX = 20;

export type RunRow = Tables["runs"]["$inferSelect"];
export type RunLedger = Pick<Ledger, "spendLimits" | "deleteSpendLimit">;

interface EndParts {
  readonly database: Database;
  readonly ledger: RunLedger;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** The id of the limit of a run, which no other run of its id has. */
export function limitIdOf({ keyId, runId, begunAtMs }: RunRow): string {
  return begunAtMs === 0 ? `run:${keyId}:${runId}` : `run:${keyId}:${runId}:${begunAtMs}`;
}

/**
 * Removes runs that no request has named with a limit, and that have spent nothing, for 30 days. What a run has spent
 * is compared with what it had spent when it was last looked at, so that no request has to note its use.
 */
export async function sweepRuns(parts: EndParts): Promise<void> {
  const { database, now } = parts;
  const { runs } = database.tables;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const isUnused = lte(runs.usedDay, dayOf(now) - UNUSED_DAYS);
    const rows = await database.db
      .select()
      .from(runs)
      .where(isUnused)
      .orderBy(asc(runs.usedDay))
      .limit(STEP_RUNS);
    await endRuns(parts, await markEnding(parts, rows));
    if (rows.length < STEP_RUNS) return;
  }
}

/** Marks the runs that have spent nothing since the last look, and returns their rows. */
async function markEnding({ database, ledger, now }: EndParts, rows: readonly RunRow[]) {
  const looks = await Promise.all(rows.map(async (row) => ({ row, spent: await spentNow(ledger, row) })));
  const usedDay = dayOf(now);
  const { runs } = database.tables;
  return database.transact(async (tx) => {
    const ending: RunRow[] = [];
    for (const { row, spent } of looks) {
      const isUsed = spent === undefined || spent !== (row.spent ?? 0n);
      const set = isUsed ? { usedDay, spent: spent ?? row.spent } : { isEnding: true };
      const isSame = and(isRun(database, row), eq(runs.usedDay, row.usedDay));
      const [marked] = await tx.update(runs).set(set).where(isSame).returning();
      if (marked?.isEnding) ending.push(marked);
    }
    return ending;
  });
}

/** Returns what a run has spent; `undefined` while a hold is open. A limit that was never set has spent nothing. */
async function spentNow(ledger: RunLedger, row: RunRow): Promise<Nanos | undefined> {
  const limits = await ledger.spendLimits(row.accountId, row.keyId, [scopeOfRun(row)]);
  const limit = limits.find(({ limitId }) => limitId === limitIdOf(row));
  if (!limit) return row.spent ?? 0n;
  return limit.held > 0n ? undefined : limit.used;
}

/**
 * Deletes the limits of runs that are marked, and then their rows. A run that has spent meanwhile is no longer marked.
 * Several processes may do so at once, and each of them may be killed.
 */
export async function endRuns({ database, ledger, now }: EndParts, rows: readonly RunRow[]): Promise<void> {
  if (rows.length === 0) return;
  const ended = await Promise.all(
    rows.map(async (row) => ({ row, isDeleted: await deleteLimit(ledger, row) })),
  );
  const { runs } = database.tables;
  await database.transact(async (tx) => {
    for (const { row, isDeleted } of ended) {
      const isMarked = and(isRun(database, row), eq(runs.isEnding, true));
      if (isDeleted) await tx.delete(runs).where(isMarked);
      else
        await tx
          .update(runs)
          .set({ isEnding: false, usedDay: dayOf(now) })
          .where(isMarked);
    }
  });
}

/** Returns `false` when the run has spent meanwhile, or has an open hold. */
async function deleteLimit(ledger: RunLedger, row: RunRow): Promise<boolean> {
  const { accountId: walletId, keyId, spent } = row;
  const ifIdle = { keyId, scopes: [scopeOfRun(row)], used: spent ?? 0n };
  try {
    await ledger.deleteSpendLimit({ walletId, limitId: limitIdOf(row), ifIdle });
    return true;
  } catch (fault) {
    if (fault instanceof LedgerError && fault.code === "conflict") return false;
    throw fault;
  }
}

/** The id of a run may be that of a later one. */
function isRun({ tables: { runs } }: Database, { keyId, runId, begunAtMs }: RunRow) {
  return and(eq(runs.keyId, keyId), eq(runs.runId, runId), eq(runs.begunAtMs, begunAtMs));
}

function dayOf(now: () => number): number {
  return Math.floor(now() / DAY_MS);
}
