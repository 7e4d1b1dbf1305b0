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

/** SQL for the counters of a limit `l`, also for a template's: a vertical tab follows the line feed. */
const OF_LIMIT = "c.wallet_id = l.wallet_id AND c.limit_id >= l.limit_id AND c.limit_id < l.limit_id || '\v'";

const PRUNABLE = `limit_counters AS c LEFT JOIN dropped_counters AS d
    ON d.wallet_id = c.wallet_id AND d.limit_id = c.limit_id AND d.period_start_ms = c.period_start_ms
  WHERE ${OF_LIMIT} AND c.held = 0 AND c.used = coalesce(d.used, 0)`;
const HAS_COUNTER = `EXISTS (SELECT 1 FROM limit_counters AS c WHERE ${OF_LIMIT})`;

/** Selects a wallet in which {@link PRUNE_DELETED} or {@link PRUNE_LIMITS} finds rows. Parameter: their first one. */
export const FIND_PRUNABLE = `SELECT l.wallet_id FROM spend_limits AS l
  WHERE l.deleted_at_ms < $1 AND (EXISTS (SELECT 1 FROM ${PRUNABLE}) OR NOT ${HAS_COUNTER}) LIMIT 1`;

/**
 * Deletes counters of limits that were deleted before all kept receipts, of any period, and returns their keys.
 * Parameters: the time before which limits were deleted, a wallet or null for every one, and a number of counters.
 */
export const PRUNE_DELETED = `DELETE FROM limit_counters WHERE (wallet_id, limit_id, period_start_ms) IN (
    SELECT c.wallet_id, c.limit_id, c.period_start_ms FROM spend_limits AS l CROSS JOIN ${PRUNABLE}
      AND l.deleted_at_ms < $1 AND l.wallet_id = coalesce(CAST($2 AS text), l.wallet_id)
      LIMIT $3)
  RETURNING wallet_id, limit_id, period_start_ms`;

/**
 * Deletes limits that were deleted before all kept receipts and have no counters any more: each run and each key that
 * a key made leaves a limit. Parameters as of {@link PRUNE_DELETED}.
 */
export const PRUNE_LIMITS = `DELETE FROM spend_limits WHERE (wallet_id, limit_id) IN (
    SELECT l.wallet_id, l.limit_id FROM spend_limits AS l WHERE NOT ${HAS_COUNTER}
      AND l.deleted_at_ms < $1 AND l.wallet_id = coalesce(CAST($2 AS text), l.wallet_id)
      LIMIT $3)
  RETURNING limit_id`;

/** A counter that was deleted. */
export interface PrunedCounter {
  readonly wallet_id: string;
  readonly limit_id: string;
  readonly period_start_ms: number | bigint;
}
