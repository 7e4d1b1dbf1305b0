import { LedgerError } from "../ledger.ts";
import { DIMENSIONS_MAX, type UsageDimension, type UsageQuery, type UsageReport } from "../usage-records.ts";
import { createValues, type Dialect, type Row, type RunQuery } from "./query.ts";
import { conditionsOf } from "./receipt-filter.ts";
import { readMeasures, SUMS_OF_RECEIPTS, SUMS_OF_SUMS } from "./usage-columns.ts";

const ROWS_MAX = 10_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longer ranges are reported in UTC days. */
const HOURS_RANGE_MAX_MS = 31 * DAY_MS;
const OFFSET_MAX = 14;

const COLUMNS: Readonly<Record<Exclude<UsageDimension, "hour" | "day">, string>> = {
  wallet: "wallet_id",
  key: "key_id",
  surface: "surface",
  model: "model",
  upstream: "upstream",
  outcome: "outcome",
  source: "source",
};

/** Sums receipts by group. Unknown values (null) form a group, which is sorted first. */
export function createUsageRead(run: RunQuery, dialect: Dialect, now: () => number) {
  return async (query: UsageQuery): Promise<UsageReport> => {
    const { groupBy } = query;
    const resolution = resolutionOf(query, now());
    const offsetHours = offsetOf(query, resolution);
    const values = createValues(dialect);
    const conditions = conditionsOf(query, values, dialect);
    const groups = groupBy.map(
      (dimension) => `${expressionOf(dimension, dialect.idTimeMs("hold_id"), offsetHours)} AS "${dimension}"`,
    );
    const part = `SELECT ${[...groups, ...SUMS_OF_RECEIPTS].join(", ")} FROM holds
      WHERE ${conditions.join(" AND ") || "true"} ${groupClause(groupBy)}`;
    const sql = `SELECT ${[...groupBy.map((each) => `"${each}"`), ...SUMS_OF_SUMS].join(", ")}
      FROM (${part}) AS parts ${groupClause(groupBy)} ${orderClause(groupBy)} LIMIT ${values.add(ROWS_MAX + 1)}`;
    const rows = await run({ sql, values: values.all });
    if (rows.length > ROWS_MAX) throw new LedgerError("invalid_query");
    return {
      rows: rows.map((row) => ({ group: readGroups(row, groupBy), ...readMeasures(row) })),
      resolution,
      offsetHours,
    };
  };
}

/** Returns the offset to apply. Throws `invalid_query` for a query that no ledger accepts. */
function offsetOf(query: UsageQuery, resolution: UsageReport["resolution"]): number {
  const { groupBy, offsetHours = 0 } = query;
  const areDistinct = new Set(groupBy).size === groupBy.length && groupBy.length <= DIMENSIONS_MAX;
  const isOffset = Number.isInteger(offsetHours) && Math.abs(offsetHours) <= OFFSET_MAX;
  if (!areDistinct || !isOffset) throw new LedgerError("invalid_query");
  return query.walletId !== undefined && resolution === "hour" ? offsetHours : 0;
}

function resolutionOf({ fromMs, toMs }: UsageQuery, nowMs: number): UsageReport["resolution"] {
  return fromMs !== undefined && (toMs ?? nowMs) - fromMs <= HOURS_RANGE_MAX_MS ? "hour" : "day";
}

function expressionOf(dimension: UsageDimension, timeMs: string, offsetHours: number): string {
  if (dimension === "hour") return `${timeMs} / ${HOUR_MS} * ${HOUR_MS}`;
  if (dimension === "day") {
    const shiftMs = offsetHours * HOUR_MS;
    return `(${timeMs} + ${shiftMs}) / ${DAY_MS} * ${DAY_MS} - ${shiftMs}`;
  }
  if (!Object.hasOwn(COLUMNS, dimension)) throw new LedgerError("invalid_query");
  return COLUMNS[dimension];
}

function groupClause(groupBy: readonly UsageDimension[]): string {
  return groupBy.length === 0 ? "" : `GROUP BY ${groupBy.map((_, index) => index + 1).join(", ")}`;
}

function orderClause(groupBy: readonly UsageDimension[]): string {
  if (groupBy.length === 0) return "";
  return `ORDER BY ${groupBy.map((_, index) => `${index + 1} NULLS FIRST`).join(", ")}`;
}

function readGroups(row: Row, groupBy: readonly UsageDimension[]) {
  return Object.fromEntries(groupBy.map((dimension) => [dimension, readGroup(row[dimension])]));
}

function readGroup(value: unknown): string | number | null {
  if (typeof value === "bigint") return Number(value);
  return typeof value === "string" ? value : null;
}
