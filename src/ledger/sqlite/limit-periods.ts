import type { Database } from "bun:sqlite";
import type { Hold, PeriodSpend } from "../core/book.ts";
import type { SetLimitCommand } from "../core/command.ts";
import { readPeriodSpend } from "../queries/period-spend.ts";
import { type Query, type Row, SQLITE } from "../queries/query.ts";
import { type HoldRow, readHold } from "../queries/rows.ts";
import type { SpendLimit } from "../records.ts";

/** What is read for limits to be set, on the connection of the batch and inside its transaction. */
export interface PeriodReader {
  /** All open holds that a limit binds, and others of its wallet. */
  openHolds(limit: SpendLimit): readonly Hold[];
  /** What a limit's current period has seen. */
  spendOf(limit: SetLimitCommand, nowMs: number): PeriodSpend;
}

export function createPeriodReader(client: Database, holdColumns: string): PeriodReader {
  // A hold with scopes may be of a key below the limit's.
  const open = client.query<HoldRow, [string, string | null]>(
    `SELECT ${holdColumns} FROM holds INDEXED BY holds_open
      WHERE state = 'held' AND wallet_id = ?1 AND (key_id = coalesce(?2, key_id) OR scopes IS NOT NULL)`,
  );
  open.safeIntegers(true);
  return {
    openHolds: ({ walletId, keyId = null }) => open.all(walletId, keyId).map(readHold),
    spendOf(limit, nowMs) {
      const read = readPeriodSpend(SQLITE, limit, nowMs);
      let step = read.next();
      while (!step.done) step = read.next(runOnce(client, step.value));
      return step.value;
    },
  };
}

/** Runs a statement that differs from call to call, so that it is not worth keeping. */
function runOnce(client: Database, { sql, values }: Query): readonly Row[] {
  const statement = client.prepare<Row, (string | number | bigint | null)[]>(sql).safeIntegers(true);
  try {
    return statement.all(...values);
  } finally {
    statement.finalize();
  }
}
