import { lt, min, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { Cause } from "../errors.ts";
import { printFacts, type RefusedRequest } from "./refusal.ts";

/** Refused requests of one key, cause, model and minute, since the row was last written. */
export interface RefusalCount {
  readonly accountId: string;
  readonly keyId: string;
  readonly cause: Cause;
  /** Empty without a model of the catalog. */
  readonly model: string;
  readonly minuteMs: number;
  readonly count: number;
  /** Oldest first, never empty. */
  readonly recent: readonly RefusedRequest[];
}

/** So few rows that a transaction holds SQLite's write lock for under 5 ms. */
export const ROWS_PER_WRITE = 50;
/** A sweep deletes the rows of so many milliseconds at once. */
const SWEEP_STEP_MS = 3_600_000;

/**
 * Adds at most {@link ROWS_PER_WRITE} counts to the rows of a gateway, in one transaction. Counts of a
 * transaction whose commit is in doubt may be added twice.
 */
export async function writeRefusals(
  { transact, tables: { refusedRequests } }: Database,
  gatewayId: string,
  counts: readonly RefusalCount[],
): Promise<void> {
  const values = counts.map(({ recent, ...count }) => ({
    ...count,
    gatewayId,
    lastRequestId: recent.at(-1)?.id ?? "",
    facts: printFacts(recent),
  }));
  const { accountId, minuteMs, keyId, cause, model } = refusedRequests;
  await transact((tx) =>
    tx
      .insert(refusedRequests)
      .values(values)
      .onConflictDoUpdate({
        target: [accountId, minuteMs, keyId, cause, model, refusedRequests.gatewayId],
        set: {
          count: sql`${refusedRequests.count} + excluded.count`,
          lastRequestId: sql`excluded.last_request_id`,
          facts: sql`excluded.facts`,
        },
      }),
  );
}

/** Deletes the rows of minutes before a time, an hour of rows per transaction. */
export async function sweepRefusals(
  { db, transact, tables: { refusedRequests } }: Database,
  beforeMs: number,
): Promise<void> {
  const { minuteMs } = refusedRequests;
  for (;;) {
    const [row] = await db.select({ oldest: min(minuteMs) }).from(refusedRequests);
    const oldest = row?.oldest ?? beforeMs;
    if (oldest >= beforeMs) return;
    const untilMs = Math.min(beforeMs, oldest + SWEEP_STEP_MS);
    await transact((tx) => tx.delete(refusedRequests).where(lt(minuteMs, untilMs)));
  }
}
