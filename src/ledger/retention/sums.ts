import { COST_COLUMNS, DROPPED_SUM_COLUMNS } from "../../db/usage-columns.ts";
import type { Dialect } from "../queries/query.ts";
import {
  COSTED,
  costsDiffer,
  PART,
  partsOf,
  receiptCosts,
  rollUpCosts,
  selectDiffering,
  sumsDiffer,
  UNCOUNTED_COSTS,
} from "../queries/usage-columns.ts";

/** Receipts in SQL: a table, and a condition on it. */
export interface ReceiptSource {
  readonly table: string;
  readonly condition: string;
}

const COLUMNS = [...DROPPED_SUM_COLUMNS, ...COST_COLUMNS];

/** What a receipt without an upstream cost adds: nothing. */
const COSTS = ["coalesce(upstream_cost, 0)", `coalesce(${COSTED}, 0)`];

/** Statements that record receipts before they are deleted, in the same transaction. */
export function recordStatements(
  { elements, item }: Dialect,
  { table, condition }: ReceiptSource,
): readonly string[] {
  return [
    `INSERT INTO dropped_receipts AS d (wallet_id, ${COLUMNS.join(", ")})
      SELECT wallet_id, count(*), ${["captured", "refunded", ABOVE, ...COSTS].flatMap(sumsOf).join(", ")}
      FROM ${table} WHERE ${condition} GROUP BY wallet_id
      ON CONFLICT (wallet_id) DO UPDATE
      SET ${COLUMNS.map((name) => `${name} = d.${name} + excluded.${name}`).join(", ")}`,
    `INSERT INTO dropped_counters AS d (wallet_id, limit_id, period_start_ms, used)
      SELECT wallet_id, ${item(0, "text")}, ${item(1, "integer")}, CAST(sum(captured - refunded) AS bigint)
      FROM ${table} AS h, ${elements("h.limits")} WHERE ${condition} AND h.limits IS NOT NULL GROUP BY 1, 2, 3
      ON CONFLICT (wallet_id, limit_id, period_start_ms) DO UPDATE SET used = d.used + excluded.used`,
  ];
}

/** The part of a cost that may overdraw a wallet, as I8 of the audit counts it. */
export const ABOVE =
  "CASE WHEN late THEN captured WHEN captured > granted THEN captured - granted ELSE 0 END";

function sumsOf(amount: string): readonly string[] {
  return partsOf(amount).map((part) => `CAST(sum(${part}) AS bigint)`);
}

/**
 * Counts the hours of wallets whose receipts differ from their usage, which outlives them. `fromMs` and `toMs`
 * are SQL for the times of the receipts, in whole hours.
 */
export function differencesSql(
  { idTimeMs }: Dialect,
  { table, condition }: ReceiptSource,
  { fromMs, toMs }: { readonly fromMs: string; readonly toMs: string },
): string {
  const hour = `CAST(${idTimeMs("hold_id")} / 3600000 * 3600000 AS bigint)`;
  const differing = selectDiffering(
    "wallet_id",
    {
      keys: ["wallet_id", "start_ms"],
      one: `SELECT wallet_id, ${hour} AS start_ms, count(*) AS requests, sum(captured / ${PART}) AS captured_high,
        sum(captured % ${PART}) AS captured_low, sum(refunded / ${PART}) AS refunded_high,
        sum(refunded % ${PART}) AS refunded_low, ${receiptCosts("")}
      FROM ${table} WHERE ${condition} GROUP BY 1, 2`,
      other: `SELECT wallet_id, start_ms, sum(requests) AS used_requests, sum(captured_high) AS used_captured_high,
        sum(captured_low) AS used_captured_low, sum(refunded_high) AS used_refunded_high,
        sum(refunded_low) AS used_refunded_low, ${rollUpCosts("used_")}, ${UNCOUNTED_COSTS} AS uncounted
      FROM (SELECT wallet_id AS owner FROM wallets) AS w CROSS JOIN usage_hours
      WHERE wallet_id = owner AND start_ms >= ${fromMs} AND start_ms < ${toMs} GROUP BY 1, 2`,
    },
    `coalesce(requests, 0) <> coalesce(used_requests, 0) OR ${sumsDiffer("captured", "used")} OR ${sumsDiffer("refunded", "used")}
      OR ${costsDiffer("used", "coalesce(uncounted, 0)")}`,
  );
  return `SELECT count(*) AS differences FROM (${differing}) AS found`;
}
