import { COST_COLUMNS } from "../../db/usage-columns.ts";
import type { Dialect } from "../queries/query.ts";
import { costsDiffer, PART, rollUpCosts, sumsDiffer, UNCOUNTED_COSTS } from "../queries/sum-parts.ts";
import { type Invariant, isBeforeDrops, type WalletRange } from "./invariants.ts";

/** The invariants of dropped receipts. Their sums are recorded in the transactions that drop them. */
export function droppedInvariants(dialect: Dialect, range: WalletRange): readonly Invariant[] {
  return [recordsEqualJournal(dialect, range), usageCountsDropped(range)];
}

function recordsEqualJournal(dialect: Dialect, range: WalletRange): Invariant {
  const sum = (condition: string, part: string) =>
    `sum(CASE WHEN ${condition} THEN amount ${part} ${PART} ELSE 0 END)`;
  return {
    id: "I9",
    claim: "transfers of dropped receipts add up to what was recorded of the receipts",
    sql: `SELECT wallet_id, CAST(NULL AS text) AS subject FROM (
        SELECT * FROM dropped_receipts WHERE ${range("wallet_id")}
      ) AS recorded FULL JOIN (
        SELECT t.wallet_id, ${sum("kind <> 5", "/")} AS journal_captured_high,
          ${sum("kind <> 5", "%")} AS journal_captured_low, ${sum("kind = 5", "/")} AS journal_refunded_high,
          ${sum("kind = 5", "%")} AS journal_refunded_low
        FROM transfers t LEFT JOIN holds h ON h.wallet_id = t.wallet_id AND h.hold_id = t.hold_id
        WHERE ${range("t.wallet_id")} AND t.kind <> 1 AND h.state IS NULL
          AND ${isBeforeDrops(dialect, "t.hold_id")} GROUP BY 1
      ) AS journal USING (wallet_id)
      WHERE ${sumsDiffer("captured", "journal")} OR ${sumsDiffer("refunded", "journal")}`,
  };
}

/** Not while an hour is being dropped: some of its receipts are left then. */
function usageCountsDropped(range: WalletRange): Invariant {
  return {
    id: "U6",
    claim: "usage counts every dropped receipt and its upstream cost",
    sql: `SELECT wallet_id, CAST(NULL AS text) AS subject FROM (
        SELECT wallet_id, sum(requests) AS requests, ${rollUpCosts("used_")},
          ${UNCOUNTED_COSTS} AS uncounted FROM usage_hours
        WHERE ${range("wallet_id")} AND start_ms < (SELECT cleared_to_ms FROM retention) GROUP BY wallet_id
      ) AS used FULL JOIN (
        SELECT wallet_id, receipts, ${COST_COLUMNS.join(", ")} FROM dropped_receipts WHERE ${range("wallet_id")}
      ) AS recorded USING (wallet_id)
      WHERE (coalesce(requests, 0) <> coalesce(receipts, 0) OR ${costsDiffer("used", "coalesce(uncounted, 0)")})
        AND (SELECT receipts_from_ms = cleared_to_ms FROM retention)`,
  };
}
