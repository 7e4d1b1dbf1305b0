import { DAY_MS } from "../../domain/id-time.ts";

/** The longest period, and the day by which an id's time may differ from the ledger's clock. */
const PERIOD_MS_MAX = 32 * DAY_MS;

/** Returns the time before which periods began of which no receipt is newer than `boundaryMs`. */
export function prunedBeforeMs(boundaryMs: number): number {
  return boundaryMs - PERIOD_MS_MAX;
}

/**
 * Deletes counters of past periods, and returns their keys: those of which dropped receipts are all that they count.
 * A limit in total has the period 0, which stays. Parameters: the time before which periods began, and a number of
 * counters. Runs in one transaction with {@link PRUNE_DROPPED}.
 */
export const PRUNE_COUNTERS = `DELETE FROM limit_counters WHERE (wallet_id, limit_id, period_start_ms) IN (
    SELECT c.wallet_id, c.limit_id, c.period_start_ms FROM limit_counters AS c
      LEFT JOIN dropped_counters AS d ON d.wallet_id = c.wallet_id AND d.limit_id = c.limit_id
        AND d.period_start_ms = c.period_start_ms
      WHERE c.period_start_ms > 0 AND c.period_start_ms < $1 AND c.held = 0 AND c.used = coalesce(d.used, 0)
      LIMIT $2)
  RETURNING wallet_id, limit_id, period_start_ms`;

/** Deletes what dropped receipts have left in one counter. */
export const PRUNE_DROPPED =
  "DELETE FROM dropped_counters WHERE wallet_id = $1 AND limit_id = $2 AND period_start_ms = $3";

/** A counter that was deleted. */
export interface PrunedCounter {
  readonly wallet_id: string;
  readonly limit_id: string;
  readonly period_start_ms: number | bigint;
}
