import { LedgerError } from "../ledger.ts";
import { DIMENSIONS_MAX, type UsageDimension, type UsageQuery, type UsageRow } from "../records.ts";
import { createValues, type Dialect, type Row, type RunQuery } from "./query.ts";
import { conditionsOf } from "./receipts.ts";

const ROWS_MAX = 10_000;
const HOUR_MS = 3_600_000;

const COLUMNS: Readonly<Record<Exclude<UsageDimension, "hour" | "day">, string>> = {
  key: "key_id",
  surface: "surface",
  model: "model",
  upstream: "upstream",
  outcome: "outcome",
  source: "source",
};

const SUMMED = [
  "captured",
  "refunded",
  "input_tokens",
  "cached_input_tokens",
  "cache_write_tokens",
  "cache_write_1h_tokens",
  "output_tokens",
] as const;

/** High and low parts of amounts are summed separately: a sum of 64-bit amounts may exceed 64 bits. */
const PART = 1_000_000_000n;

/** Sums receipts by group. Unknown values (null) form a group, which is sorted first. */
export function createUsageRead(run: RunQuery, dialect: Dialect) {
  return async (query: UsageQuery): Promise<readonly UsageRow[]> => {
    const { groupBy } = query;
    const isValid = new Set(groupBy).size === groupBy.length && groupBy.length <= DIMENSIONS_MAX;
    if (!isValid) throw new LedgerError("invalid_query");
    const values = createValues(dialect);
    const conditions = conditionsOf(query, values);
    const groups = groupBy.map((dimension) => `${expressionOf(dimension, dialect)} AS "${dimension}"`);
    const sums = SUMMED.map(
      (column) => `sum(${column} / ${PART}) AS ${column}_high,
      sum(${column} % ${PART}) AS ${column}_low`,
    );
    const sql = `SELECT ${[...groups, "count(*) AS requests", ...sums].join(", ")} FROM holds
      WHERE ${conditions.join(" AND ")} ${orderOf(groupBy)} LIMIT ${values.add(ROWS_MAX + 1)}`;
    const rows = await run({ sql, values: values.all });
    if (rows.length > ROWS_MAX) throw new LedgerError("invalid_query");
    return rows.map((row) => readUsage(row, groupBy));
  };
}

function expressionOf(dimension: UsageDimension, { idTimeMs }: Dialect): string {
  if (dimension === "hour" || dimension === "day") {
    const lengthMs = dimension === "hour" ? HOUR_MS : 24 * HOUR_MS;
    return `${idTimeMs("hold_id")} / ${lengthMs} * ${lengthMs}`;
  }
  if (!Object.hasOwn(COLUMNS, dimension)) throw new LedgerError("invalid_query");
  return COLUMNS[dimension];
}

function orderOf(groupBy: readonly UsageDimension[]): string {
  if (groupBy.length === 0) return "";
  const places = groupBy.map((_, index) => `${index + 1}`);
  return `GROUP BY ${places.join(", ")} ORDER BY ${places.map((place) => `${place} NULLS FIRST`).join(", ")}`;
}

function readUsage(row: Row, groupBy: readonly UsageDimension[]): UsageRow {
  const tokens = (column: (typeof SUMMED)[number]) => Number(readSum(row, column));
  return {
    group: Object.fromEntries(groupBy.map((dimension) => [dimension, readGroup(row[dimension])])),
    requests: Number(row.requests),
    captured: readSum(row, "captured"),
    refunded: readSum(row, "refunded"),
    usage: {
      inputTokens: tokens("input_tokens"),
      cachedInputTokens: tokens("cached_input_tokens"),
      cacheWriteTokens: tokens("cache_write_tokens"),
      cacheWrite1hTokens: tokens("cache_write_1h_tokens"),
      outputTokens: tokens("output_tokens"),
    },
  };
}

/** A sum of no rows is null, and read as 0. */
function readSum(row: Row, column: (typeof SUMMED)[number]): bigint {
  const part = (name: string) => BigInt((row[name] ?? 0) as bigint | string | number);
  return part(`${column}_high`) * PART + part(`${column}_low`);
}

function readGroup(value: unknown): string | number | null {
  if (typeof value === "bigint") return Number(value);
  return typeof value === "string" ? value : null;
}
