import { UNKNOWN } from "../../db/usage-columns.ts";
import { DAY_MS, HOUR_MS, ID_TIME_MAX } from "../../domain/id-time.ts";
import type { UsageQuery } from "../records.ts";
import type { ScopeDimension, UsageDimension } from "../usage-records.ts";
import { type Coverage, SNAPSHOT_COLUMNS, type TimeRange } from "./coverage.ts";
import type { Dialect, Values } from "./query.ts";
import { conditionsOf } from "./receipts.ts";
import {
  addAll,
  isOfDays,
  partsOf,
  type RollUpTable,
  rollUpConditions,
  walletsOf,
} from "./roll-up-tables.ts";
import { isScopeDimension, scopeOf } from "./scope-columns.ts";
import {
  COST_OF_SUMS,
  MONEY_OF_RECEIPTS,
  MONEY_OF_SUMS,
  measuresOfSums,
  moneyOfSums,
  OK_OF_RECEIPTS,
  OK_OF_ROLL_UPS,
  SUMS_OF_RECEIPTS,
  SUMS_OF_SUMS,
} from "./usage-columns.ts";

// The statements that sum usage up. Each of their parts sums one range of time from one table.

export const ROWS_MAX = 10_000;

/** The columns of roll-ups and receipts by dimension. */
export const COLUMNS: Readonly<Record<Exclude<UsageDimension, "hour" | "day" | ScopeDimension>, string>> = {
  wallet: "wallet_id",
  key: "key_id",
  surface: "surface",
  model: "model",
  upstream: "upstream",
  outcome: "outcome",
  source: "source",
};

export interface PartOptions {
  readonly values: Values;
  readonly dialect: Dialect;
  readonly offsetHours: number;
}

/** Parts of a sum, and the tables that they share. */
export interface SumParts {
  readonly tables: readonly string[];
  readonly parts: readonly string[];
  /** Whether parts take sums off, so that a group may come to nothing. */
  readonly subtracts: boolean;
}

/** Returns the parts of a coverage. */
export function partsOfCoverage(query: UsageQuery, coverage: Coverage, options: PartOptions): SumParts {
  const parts = [
    ...coverage.receipts.map((range) => receiptSums(query, range, options)),
    ...partsOf(query, coverage).map(({ table, range }) => rollUpSums(table, query, range, options)),
  ];
  return { tables: [], parts, subtracts: false };
}

/** Returns the statement that adds parts up. Every row also has the state of the roll-ups; one without group, only it. */
export function sumStatement(
  query: UsageQuery,
  { tables, parts, subtracts }: SumParts,
  options: PartOptions,
): string {
  const { groupBy, dearestMax } = query;
  const { values, dialect } = options;
  const summed = parts.length > 0 ? parts : [receiptSums(query, { fromMs: 0, toMs: 0 }, options)];
  const groups = groupBy.map((each) => `"${each}"`);
  const cost = dearestMax === undefined ? [] : [`${COST_OF_SUMS} AS cost`];
  const measures = query.isMoneyOnly ? moneyOfSums(dialect) : measuresOfSums(dialect);
  const columns = [...groups, measures, "sum(ok) AS ok", ...cost];
  const shared = tables.length > 0 ? `WITH ${tables.join(", ")} ` : "";
  const having = subtracts && groupBy.length > 0 ? "HAVING sum(requests) <> 0" : "";
  return `${shared}SELECT * FROM (SELECT ${SNAPSHOT_COLUMNS} FROM usage_cursor) AS state LEFT JOIN (
      SELECT ${columns.join(", ")}
      FROM (${summed.join("\nUNION ALL ")}) AS parts ${amongClause(query, values)} ${groupClause(groupBy)} ${having}
    ) AS sums ON true ${orderClause(query)} LIMIT ${values.add(dearestMax ?? ROWS_MAX + 1)}`;
}

export function receiptSums(
  query: UsageQuery,
  range: TimeRange,
  { values, dialect, offsetHours }: PartOptions,
): string {
  const toMs = range.toMs > ID_TIME_MAX ? undefined : range.toMs;
  const conditions = conditionsOf({ ...query, fromMs: range.fromMs || undefined, toMs }, values, dialect);
  const among = query.walletIds ? [`wallet_id IN (${addAll(query.walletIds, values)})`] : [];
  const timeMs = dialect.idTimeMs("hold_id");
  const groups = query.groupBy.map((each) => {
    const value = isScopeDimension(each)
      ? scopeOf(each, { values, dialect, tagKey: query.tagKey })
      : expressionOf(each, timeMs, offsetHours);
    return `${value} AS "${each}"`;
  });
  const sums = query.isMoneyOnly ? MONEY_OF_RECEIPTS : SUMS_OF_RECEIPTS;
  return `SELECT ${[...groups, ...sums, OK_OF_RECEIPTS].join(", ")} FROM holds
    WHERE ${[...conditions, ...among].join(" AND ") || "true"} ${groupClause(query.groupBy)}`;
}

function rollUpSums(
  table: RollUpTable,
  query: UsageQuery,
  range: TimeRange,
  { values, offsetHours }: PartOptions,
): string {
  const { from, conditions: ofWallets, wallet } = walletsOf(table, query, values);
  const conditions = [
    `start_ms >= ${values.add(range.fromMs)}`,
    `start_ms < ${values.add(range.toMs)}`,
    ...ofWallets,
    ...rollUpConditions(query, values),
  ];
  // Dimensions of scopes are in no roll-up of keys.
  const dimensions = query.groupBy.filter((each) => !isScopeDimension(each));
  const groups = dimensions.map((each) => {
    // Without arithmetic, rows that are sorted by their start need no sorting.
    const isStart = (each === "hour" && !isOfDays(table)) || (each === "day" && isOfDays(table));
    const column =
      each === "wallet" ? wallet : isStart ? "start_ms" : expressionOf(each, "start_ms", offsetHours);
    return `${hasUnknown(each) ? `nullif(${column}, '${UNKNOWN}')` : column} AS "${each}"`;
  });
  const sums = query.isMoneyOnly ? MONEY_OF_SUMS : SUMS_OF_SUMS;
  return `SELECT ${[...groups, ...sums, OK_OF_ROLL_UPS].join(", ")} FROM ${from}
    WHERE ${conditions.join(" AND ")} ${groupClause(query.groupBy)}`;
}

function hasUnknown(dimension: UsageDimension): boolean {
  return dimension === "upstream" || dimension === "outcome";
}

function expressionOf(
  dimension: Exclude<UsageDimension, ScopeDimension>,
  timeMs: string,
  offsetHours: number,
): string {
  if (dimension === "hour") return `${timeMs} / ${HOUR_MS} * ${HOUR_MS}`;
  if (dimension !== "day") return COLUMNS[dimension];
  const shiftMs = offsetHours * HOUR_MS;
  return `(${timeMs} + ${shiftMs}) / ${DAY_MS} * ${DAY_MS} - ${shiftMs}`;
}

export function groupClause(groupBy: readonly UsageDimension[]): string {
  return groupBy.length === 0 ? "" : `GROUP BY ${groupBy.map((_, index) => index + 1).join(", ")}`;
}

/** Selects groups by the value of the last dimension. */
function amongClause({ groupBy, among }: UsageQuery, values: Values): string {
  return among === undefined ? "" : `WHERE "${groupBy.at(-1)}" IN (${addAll(among, values)})`;
}

function orderClause({ groupBy, dearestMax }: UsageQuery): string {
  if (groupBy.length === 0) return "";
  const dearest = dearestMax === undefined ? "" : "cost DESC, ";
  return `ORDER BY ${dearest}${groupBy.map((each) => `"${each}" NULLS FIRST`).join(", ")}`;
}
