import { COST_COLUMNS } from "../../db/usage-columns.ts";
import { DAY_MS, firstIdOf, HOUR_MS } from "../../domain/id-time.ts";
import { NO_TOTALS_MS } from "../queries/coverage.ts";
import { CREDITED } from "../queries/journal-sums.ts";
import type { Dialect } from "../queries/query.ts";
import {
  costsDiffer,
  PART,
  receiptCosts,
  rollUpCosts,
  selectDiffering,
  sumsDiffer,
  UNCOUNTED_COSTS,
} from "../queries/usage-columns.ts";
import { type Invariant, isBeforeDrops, type WalletRange } from "./invariants.ts";
import { scopeDaysEqualReceipts } from "./scope-invariant.ts";

/**
 * The invariants of the roll-ups of usage. Hours that are stale are not compared: usage reads their receipts,
 * which I5 compares with the journal.
 */
export function usageInvariants(dialect: Dialect, range: WalletRange): readonly Invariant[] {
  return [
    hoursEqualJournal(dialect, range),
    daysEqualHours(range),
    journalSumsEqualJournal(dialect, range),
    costsEqualReceipts(dialect, range),
    scopeDaysEqualReceipts(dialect, range),
  ];
}

/** From the journal and not from the receipts, so that it holds when old receipts are gone. */
function hoursEqualJournal({ idTimeMs }: Dialect, range: WalletRange): Invariant {
  const hour = `CAST(${idTimeMs("hold_id")} / ${HOUR_MS} * ${HOUR_MS} AS bigint)`;
  return {
    id: "U1",
    claim: "usage by hour adds up to the captures and refunds of the journal",
    sql: selectDiffering(
      "wallet_id, CAST(start_ms AS text) AS subject",
      {
        keys: ["wallet_id", "start_ms"],
        one: `SELECT wallet_id, start_ms, sum(captured_high) AS captured_high, sum(captured_low) AS captured_low,
          sum(refunded_high) AS refunded_high, sum(refunded_low) AS refunded_low
        FROM usage_hours WHERE ${range("wallet_id")} GROUP BY wallet_id, start_ms`,
        other: `SELECT wallet_id, ${hour} AS start_ms,
          sum(CASE WHEN kind = 5 THEN 0 ELSE amount / ${PART} END) AS journal_captured_high,
          sum(CASE WHEN kind = 5 THEN 0 ELSE amount % ${PART} END) AS journal_captured_low,
          sum(CASE WHEN kind = 5 THEN amount / ${PART} ELSE 0 END) AS journal_refunded_high,
          sum(CASE WHEN kind = 5 THEN amount % ${PART} ELSE 0 END) AS journal_refunded_low
        FROM transfers WHERE hold_id IS NOT NULL AND ${range("wallet_id")} GROUP BY 1, 2`,
      },
      `start_ms >= (SELECT hours_from_ms FROM usage_cursor) AND start_ms < (SELECT hours_to_ms FROM usage_cursor)
        AND (wallet_id, start_ms) NOT IN (SELECT wallet_id, start_ms FROM usage_stale)
        AND (${differ("captured")} OR ${differ("refunded")})`,
    ),
  };
}

/** Whether the sums of the two sides differ. */
function differ(amount: string): string {
  return sumsDiffer(amount, "journal");
}

const COMPARED = ["requests", "captured_high", "captured_low", "refunded_high", "refunded_low"];

function sumsAs(prefix: string): string {
  const sums = [...COMPARED, ...COST_COLUMNS].map((name) => `sum(${name}) AS ${prefix}_${name}`);
  return [...sums, `${UNCOUNTED_COSTS} AS ${prefix}_uncounted`].join(", ");
}

/** Whether the sums of two sides differ; of costs only where both sides count them. */
function compareSums(one: string, other: string): string {
  const compare = (names: readonly string[]) =>
    names.map((name) => `coalesce(${one}_${name}, 0) <> coalesce(${other}_${name}, 0)`).join(" OR ");
  const uncounted = `coalesce(${one}_uncounted, 0) + coalesce(${other}_uncounted, 0)`;
  return `${compare(COMPARED)} OR (${uncounted} = 0 AND (${compare(COST_COLUMNS)}))`;
}

function dayOf(startMs: string): string {
  return `CAST(${startMs} / ${DAY_MS} * ${DAY_MS} AS bigint)`;
}

function daysEqualHours(range: WalletRange): Invariant {
  const day = dayOf("start_ms");
  return {
    id: "U2",
    claim: "usage by day is the sum of its hours",
    sql: selectDiffering(
      "wallet_id, CAST(day_ms AS text) AS subject",
      {
        keys: ["wallet_id", "day_ms"],
        one: `SELECT wallet_id, start_ms AS day_ms, ${sumsAs("d")}
          FROM usage_days WHERE ${range("wallet_id")} GROUP BY 1, 2`,
        other: `SELECT wallet_id, ${day} AS day_ms, ${sumsAs("h")}
          FROM usage_hours WHERE ${range("wallet_id")} GROUP BY 1, 2`,
      },
      `day_ms >= (SELECT days_from_ms FROM usage_cursor) AND day_ms < (SELECT days_to_ms FROM usage_cursor)
        AND (wallet_id, day_ms) NOT IN (SELECT wallet_id, ${day} FROM usage_stale)
        AND (${compareSums("d", "h")})`,
    ),
  };
}

/** U7, of kept receipts. An hour is not compared where a program wrote it that knew no costs. */
function costsEqualReceipts({ idTimeMs }: Dialect, range: WalletRange): Invariant {
  return {
    id: "U7",
    claim: "upstream costs by hour add up to those of the receipts",
    sql: selectDiffering(
      "wallet_id, CAST(start_ms AS text) AS subject",
      {
        keys: ["wallet_id", "start_ms"],
        one: `SELECT wallet_id, start_ms, ${rollUpCosts("")}, ${UNCOUNTED_COSTS} AS uncounted
        FROM usage_hours WHERE ${range("wallet_id")} GROUP BY 1, 2`,
        other: `SELECT wallet_id, CAST(${idTimeMs("hold_id")} / ${HOUR_MS} * ${HOUR_MS} AS bigint) AS start_ms,
          ${receiptCosts("kept_")}
        FROM holds WHERE upstream_cost IS NOT NULL AND ${range("wallet_id")} GROUP BY 1, 2`,
      },
      `start_ms >= (SELECT hours_from_ms FROM usage_cursor) AND start_ms < (SELECT hours_to_ms FROM usage_cursor)
        AND start_ms >= (SELECT receipts_from_ms FROM retention)
        AND (wallet_id, start_ms) NOT IN (SELECT wallet_id, start_ms FROM usage_stale)
        AND ${costsDiffer("kept", "coalesce(uncounted, 0)")}`,
    ),
  };
}

/** U4, of all wallets at once. Stale hours are not compared: usage reads their receipts. */
export function totalsEqualWallets(): Invariant {
  return {
    id: "U4",
    claim: "usage of all wallets is the sum of theirs",
    sql: [totalsDiffer("hours", "start_ms"), totalsDiffer("days", dayOf("start_ms"))].join(" UNION ALL "),
  };
}

/** The starts of hours or days whose totals differ. `stale` is SQL for the start that a stale hour is in. */
function totalsDiffer(unit: "hours" | "days", stale: string): string {
  return selectDiffering(
    "'' AS wallet_id, CAST(start_ms AS text) AS subject",
    {
      keys: ["start_ms"],
      one: `SELECT start_ms, ${sumsAs("t")} FROM usage_total_${unit} GROUP BY 1`,
      other: `SELECT start_ms, ${sumsAs("w")} FROM usage_${unit} GROUP BY 1`,
    },
    `start_ms >= (SELECT CASE WHEN totals_version = version THEN totals_from_ms ELSE ${NO_TOTALS_MS} END
        FROM usage_cursor)
      AND start_ms >= (SELECT ${unit}_from_ms FROM usage_cursor)
      AND start_ms < (SELECT ${unit}_to_ms FROM usage_cursor)
      AND start_ms NOT IN (SELECT ${stale} FROM usage_stale)
      AND (${compareSums("t", "w")})`,
  );
}

/** U5: the sums of a journal are those of its transfers up to their position. */
function journalSumsEqualJournal({ transferOrder }: Dialect, range: WalletRange): Invariant {
  const names = ["topped_up", "charged", "refunded"];
  const kinds = ["kind = 1", "kind NOT IN (1, 5)", "kind = 5"];
  const sums = names.flatMap((name, index) => [
    `sum(CASE WHEN ${kinds[index]} THEN (${CREDITED}) / ${PART} ELSE 0 END) AS journal_${name}_high`,
    `sum(CASE WHEN ${kinds[index]} THEN (${CREDITED}) % ${PART} ELSE 0 END) AS journal_${name}_low`,
  ]);
  return {
    id: "U5",
    claim: "sums of the journal are those of its transfers",
    sql: `SELECT wallet_id, CAST(position AS text) AS subject FROM journal_sums LEFT JOIN (
        SELECT t.wallet_id, count(*) AS counted, ${sums.join(", ")} FROM transfers AS t
        JOIN journal_sums AS j ON j.wallet_id = t.wallet_id AND t.${transferOrder} <= j.position
        WHERE ${range("t.wallet_id")} GROUP BY 1
      ) AS journal USING (wallet_id)
      WHERE ${range("wallet_id")} AND (transfers <> coalesce(counted, 0) OR ${names.map(differ).join(" OR ")})`,
  };
}

/** How far the roll-ups may lag before the audit warns. The job looks for closed hours every 10 s. */
const LAG_MAX_MS = 3 * HOUR_MS;

/** U3, only a warning: usage stays exact, and becomes slow. */
export function lateRollUps(nowMs: number): Invariant {
  return {
    id: "U3",
    claim: "usage is summed up to 3 hours ago",
    sql: `SELECT '' AS wallet_id, CAST(hours_to_ms AS text) AS subject FROM usage_cursor
      WHERE hours_to_ms < ${nowMs - LAG_MAX_MS} AND EXISTS (SELECT 1 FROM holds
        WHERE hold_id < '${firstIdOf(Math.max(0, nowMs - LAG_MAX_MS))}')`,
  };
}

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
    sql: selectDiffering(
      "wallet_id, CAST(NULL AS text) AS subject",
      {
        keys: ["wallet_id"],
        one: `SELECT * FROM dropped_receipts WHERE ${range("wallet_id")}`,
        other: `SELECT t.wallet_id, ${sum("kind <> 5", "/")} AS journal_captured_high,
          ${sum("kind <> 5", "%")} AS journal_captured_low, ${sum("kind = 5", "/")} AS journal_refunded_high,
          ${sum("kind = 5", "%")} AS journal_refunded_low
        FROM transfers t LEFT JOIN holds h ON h.wallet_id = t.wallet_id AND h.hold_id = t.hold_id
        WHERE ${range("t.wallet_id")} AND t.kind NOT IN (1, 7) AND h.state IS NULL
          AND ${isBeforeDrops(dialect, "t.hold_id")} GROUP BY 1`,
      },
      `${sumsDiffer("captured", "journal")} OR ${sumsDiffer("refunded", "journal")}`,
    ),
  };
}

/** Not while an hour is being dropped: some of its receipts are left then. */
function usageCountsDropped(range: WalletRange): Invariant {
  return {
    id: "U6",
    claim: "usage counts every dropped receipt and its upstream cost",
    sql: selectDiffering(
      "wallet_id, CAST(NULL AS text) AS subject",
      {
        keys: ["wallet_id"],
        one: `SELECT wallet_id, sum(requests) AS requests, ${rollUpCosts("used_")},
          ${UNCOUNTED_COSTS} AS uncounted FROM usage_hours
        WHERE ${range("wallet_id")} AND start_ms < (SELECT cleared_to_ms FROM retention) GROUP BY wallet_id`,
        other: `SELECT wallet_id, receipts, ${COST_COLUMNS.join(", ")}
          FROM dropped_receipts WHERE ${range("wallet_id")}`,
      },
      `(coalesce(requests, 0) <> coalesce(receipts, 0) OR ${costsDiffer("used", "coalesce(uncounted, 0)")})
        AND (SELECT receipts_from_ms = cleared_to_ms FROM retention)`,
    ),
  };
}
