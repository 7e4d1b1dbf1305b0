import { UNKNOWN } from "../../db/usage-columns.ts";
import { DAY_MS, HOUR_MS } from "../../domain/id-time.ts";
import { LedgerError } from "../ledger.ts";
import { USAGE_WALLETS_MAX, type UsageQuery } from "../records.ts";
import {
  DIMENSIONS_MAX,
  type ScopeDimension,
  type UsageDimension,
  type UsageReport,
} from "../usage-records.ts";
import {
  type Coverage,
  coverByReceipts,
  coverRange,
  isSameSnapshot,
  rangeOf,
  readSnapshot,
  SNAPSHOT_COLUMNS,
  type TimeRange,
} from "./coverage.ts";
import { createValues, type Dialect, isStorable, type Row, type RunQuery, type Values } from "./query.ts";
import { conditionsOf } from "./receipts.ts";
import {
  addAll,
  checkWallets,
  isOfDays,
  partsOf,
  type RollUpTable,
  rollUpConditions,
  walletsOf,
} from "./roll-up-tables.ts";
import { isScopeDimension, SCOPE_DIMENSIONS, scopeOf } from "./scope-columns.ts";
import {
  COST_OF_SUMS,
  measuresOfSums,
  OK_OF_RECEIPTS,
  OK_OF_ROLL_UPS,
  SUMS_OF_RECEIPTS,
  SUMS_OF_SUMS,
} from "./usage-columns.ts";
import { readRows } from "./usage-rows.ts";

const ROWS_MAX = 10_000;
/** Longer ranges are reported in UTC days. */
const HOURS_RANGE_MAX_MS = 31 * DAY_MS;
const OFFSET_MAX = 14;
/** How often a sum is repeated because the roll-ups changed meanwhile, before it reads receipts only. */
const TRIES_MAX = 5;

const COLUMNS: Readonly<Record<Exclude<UsageDimension, "hour" | "day" | ScopeDimension>, string>> = {
  wallet: "wallet_id",
  key: "key_id",
  surface: "surface",
  model: "model",
  upstream: "upstream",
  outcome: "outcome",
  source: "source",
};

/** The dimensions, and the conditions of a filter, that roll-ups lack. */
const RECEIPT_DIMENSIONS: readonly UsageDimension[] = ["surface", "source", ...SCOPE_DIMENSIONS];
const RECEIPT_CONDITIONS = ["surface", "state", "metadata"] as const;

/**
 * Sums receipts by group: from roll-ups where they are current, else from the receipts. Both are read in one
 * statement, so that every receipt counts once. Unknown values (null) form a group, which is sorted first.
 */
export function createUsageRead(run: RunQuery, dialect: Dialect, now: () => number) {
  return async (query: UsageQuery): Promise<UsageReport> => {
    const resolution = resolutionOf(query, now());
    const offsetHours = offsetOf(query, resolution);
    // Rejects an invalid filter before anything is read.
    conditionsOf(query, createValues(dialect), dialect);
    checkWallets(query);
    const plan = { query, offsetHours, range: rangeOf(query) };
    const rows = await sumCovered(run, dialect, plan);
    if (rows.length > ROWS_MAX) throw new LedgerError("invalid_query");
    const { groupBy } = query;
    return { rows: await readRows(rows, groupBy), resolution, offsetHours };
  };
}

interface UsagePlan {
  readonly query: UsageQuery;
  readonly offsetHours: number;
  readonly range: TimeRange;
}

async function sumCovered(run: RunQuery, dialect: Dialect, plan: UsagePlan): Promise<readonly Row[]> {
  const { query, offsetHours, range } = plan;
  const { walletId, groupBy } = query;
  const takesDays = !groupBy.includes("hour") && !(groupBy.includes("day") && offsetHours !== 0);
  for (let tries = 1; isInRollUps(query) && tries <= TRIES_MAX; tries++) {
    const snapshot = await readSnapshot(run, dialect, { walletId, range });
    const coverage = coverRange(range, snapshot, takesDays);
    const rows = await runSums(run, dialect, plan, coverage);
    if (isSameSnapshot(rows[0], snapshot)) return withoutEmpty(rows);
  }
  return withoutEmpty(await runSums(run, dialect, plan, coverByReceipts(range)));
}

function isInRollUps(query: UsageQuery): boolean {
  return (
    !query.groupBy.some((dimension) => RECEIPT_DIMENSIONS.includes(dimension)) &&
    RECEIPT_CONDITIONS.every((name) => query[name] === undefined) &&
    (query.scopes ?? []).length === 0
  );
}

/** Removes the row that reports the state alone, when there is no group. */
function withoutEmpty(rows: readonly Row[]): readonly Row[] {
  return rows.filter(({ measures }) => measures !== null);
}

/** Sums the parts of a coverage. Every row also has the state of the roll-ups; a row without group, only it. */
async function runSums(
  run: RunQuery,
  dialect: Dialect,
  { query, offsetHours }: UsagePlan,
  coverage: Coverage,
): Promise<readonly Row[]> {
  const { groupBy, dearestMax } = query;
  const values = createValues(dialect);
  const options = { values, dialect, offsetHours };
  const parts = [
    ...coverage.receipts.map((range) => receiptSums(query, range, options)),
    ...partsOf(query, coverage).map(({ table, range }) => rollUpSums(table, query, range, options)),
  ];
  if (parts.length === 0) parts.push(receiptSums(query, { fromMs: 0, toMs: 0 }, options));
  const groups = groupBy.map((each) => `"${each}"`);
  const cost = dearestMax === undefined ? [] : [`${COST_OF_SUMS} AS cost`];
  const columns = [...groups, measuresOfSums(dialect), "sum(ok) AS ok", ...cost];
  const sql = `SELECT * FROM (SELECT ${SNAPSHOT_COLUMNS} FROM usage_cursor) AS state LEFT JOIN (
      SELECT ${columns.join(", ")}
      FROM (${parts.join("\nUNION ALL ")}) AS parts ${amongClause(query, values)} ${groupClause(groupBy)}
    ) AS sums ON true ${orderClause(query)} LIMIT ${values.add(dearestMax ?? ROWS_MAX + 1)}`;
  return run({ sql, values: values.all });
}

interface PartOptions {
  readonly values: Values;
  readonly dialect: Dialect;
  readonly offsetHours: number;
}

function receiptSums(
  query: UsageQuery,
  range: TimeRange,
  { values, dialect, offsetHours }: PartOptions,
): string {
  const toMs = range.toMs > ID_LAST_MS ? undefined : range.toMs;
  const conditions = conditionsOf({ ...query, fromMs: range.fromMs || undefined, toMs }, values, dialect);
  const among = query.walletIds ? [`wallet_id IN (${addAll(query.walletIds, values)})`] : [];
  const timeMs = dialect.idTimeMs("hold_id");
  const groups = query.groupBy.map((each) => {
    const value = isScopeDimension(each)
      ? scopeOf(each, { values, dialect, tagKey: query.tagKey })
      : expressionOf(each, timeMs, offsetHours);
    return `${value} AS "${each}"`;
  });
  return `SELECT ${[...groups, ...SUMS_OF_RECEIPTS, OK_OF_RECEIPTS].join(", ")} FROM holds
    WHERE ${[...conditions, ...among].join(" AND ") || "true"} ${groupClause(query.groupBy)}`;
}

const ID_LAST_MS = 2 ** 48 - 1;

function rollUpSums(
  table: RollUpTable,
  query: UsageQuery,
  range: TimeRange,
  { values, offsetHours }: PartOptions,
): string {
  const { from, conditions: ofWallets } = walletsOf(table, query, values);
  const conditions = [
    `start_ms >= ${values.add(range.fromMs)}`,
    `start_ms < ${values.add(range.toMs)}`,
    ...ofWallets,
    ...rollUpConditions(query, values),
  ];
  // Dimensions of scopes are in no roll-up.
  const dimensions = query.groupBy.filter((each) => !isScopeDimension(each));
  const groups = dimensions.map((each) => {
    // Without arithmetic, rows that are sorted by their start need no sorting.
    const isStart = (each === "hour" && !isOfDays(table)) || (each === "day" && isOfDays(table));
    const column = isStart ? "start_ms" : expressionOf(each, "start_ms", offsetHours);
    return `${hasUnknown(each) ? `nullif(${column}, '${UNKNOWN}')` : column} AS "${each}"`;
  });
  return `SELECT ${[...groups, ...SUMS_OF_SUMS, OK_OF_ROLL_UPS].join(", ")} FROM ${from}
    WHERE ${conditions.join(" AND ")} ${groupClause(query.groupBy)}`;
}

function hasUnknown(dimension: UsageDimension): boolean {
  return dimension === "upstream" || dimension === "outcome";
}

/** Returns the offset to apply. Throws `invalid_query` for a query that no ledger accepts. */
function offsetOf(query: UsageQuery, resolution: UsageReport["resolution"]): number {
  const { groupBy, tagKey, offsetHours = 0, dearestMax = ROWS_MAX } = query;
  const areDistinct = new Set(groupBy).size === groupBy.length && groupBy.length <= DIMENSIONS_MAX;
  const isOffset = Number.isInteger(offsetHours) && Math.abs(offsetHours) <= OFFSET_MAX;
  const areKnown = groupBy.every(
    (each) => each === "hour" || each === "day" || Object.hasOwn(COLUMNS, each) || isScopeDimension(each),
  );
  const hasKey = !groupBy.includes("tag") || (tagKey !== undefined && isStorable(tagKey));
  const isMax = Number.isInteger(dearestMax) && dearestMax >= 1 && dearestMax <= ROWS_MAX;
  if (!areDistinct || !isOffset || !areKnown || !hasKey || !isMax || !isSelectable(query))
    throw new LedgerError("invalid_query");
  return query.walletId !== undefined && resolution === "hour" ? offsetHours : 0;
}

function isSelectable({ groupBy, among }: UsageQuery): boolean {
  const last = groupBy.at(-1);
  if (among === undefined) return true;
  const isDimension = last !== undefined && last !== "hour" && last !== "day";
  return isDimension && among.length > 0 && among.length <= USAGE_WALLETS_MAX && among.every(isStorable);
}

function resolutionOf({ fromMs, toMs }: UsageQuery, nowMs: number): UsageReport["resolution"] {
  return fromMs !== undefined && (toMs ?? nowMs) - fromMs <= HOURS_RANGE_MAX_MS ? "hour" : "day";
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

function groupClause(groupBy: readonly UsageDimension[]): string {
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
