import { DAY_MS } from "../../domain/id-time.ts";
import { platform } from "../../platform.ts";
import { LedgerError } from "../ledger.ts";
import { USAGE_WALLETS_MAX, type UsageQuery } from "../records.ts";
import { DIMENSIONS_MAX, type UsageDimension, type UsageReport, type UsageRow } from "../usage-records.ts";
import {
  coverByReceipts,
  coverRange,
  intersect,
  isEmpty,
  type RollUpSnapshot,
  rangeOf,
  readSnapshot,
  rollUpsOfTry,
  type TimeRange,
  TRIES_MAX,
} from "./coverage.ts";
import { createValues, type Dialect, isStorable, type Row, type RunQuery } from "./query.ts";
import { conditionsOf } from "./receipts.ts";
import { checkWallets } from "./roll-up-tables.ts";
import { isScopeDimension, SCOPE_DIMENSIONS } from "./scope-columns.ts";
import {
  coverScopes,
  needsIds,
  otherDaysQuery,
  partsOfScopes,
  type ScopeDaysQuery,
  scopeDaysOf,
} from "./scope-days.ts";
import { readMeasures } from "./usage-columns.ts";
import {
  COLUMNS,
  type PartOptions,
  partsOfCoverage,
  ROWS_MAX,
  type SumParts,
  sumStatement,
} from "./usage-sums.ts";

/** Longer ranges are reported in UTC days. */
const HOURS_RANGE_MAX_MS = 31 * DAY_MS;
const OFFSET_MAX = 14;

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
    return { rows: await readRows(rows, query), resolution, offsetHours };
  };
}

interface UsagePlan {
  readonly query: UsageQuery;
  readonly offsetHours: number;
  readonly range: TimeRange;
}

/** Sums parts that are chosen by the state of the roll-ups, again when that has changed meanwhile. */
async function sumCovered(run: RunQuery, dialect: Dialect, plan: UsagePlan): Promise<readonly Row[]> {
  const { query, offsetHours, range } = plan;
  const { walletId, groupBy } = query;
  const scopes = scopeDaysOf(query, offsetHours);
  const takesDays = !groupBy.includes("hour") && !(groupBy.includes("day") && offsetHours !== 0);
  const sum = async (partsIn: (options: PartOptions) => SumParts) => {
    const values = createValues(dialect);
    const options = { values, dialect, offsetHours };
    const sql = sumStatement(query, partsIn(options), options);
    return run({ sql, values: values.all });
  };
  if (!scopes && !isInRollUps(query))
    return withoutEmpty(await sum((options) => partsOfCoverage(query, coverByReceipts(range), options)));
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const snapshot = await readSnapshot(run, dialect, { walletId, range });
    const { hours, days, areThere } = rollUpsOfTry(snapshot, tries);
    const otherDays = scopes
      ? await readOtherDays(run, dialect, { query, scopes, snapshot: days, range })
      : [];
    const rows = await sum((options) =>
      scopes
        ? partsOfScopes(query, scopes, coverScopes(range, days, otherDays), options)
        : partsOfCoverage(query, coverRange(range, hours, takesDays), options),
    );
    if (areThere(rows[0])) return withoutEmpty(rows);
  }
  throw new LedgerError("unavailable");
}

interface OtherDays {
  readonly query: UsageQuery;
  readonly scopes: ScopeDaysQuery;
  readonly snapshot: RollUpSnapshot;
  readonly range: TimeRange;
}

/** Reads the days that lack rows of single scopes, where a query needs these. */
async function readOtherDays(
  run: RunQuery,
  dialect: Dialect,
  { query, scopes, snapshot, range }: OtherDays,
): Promise<readonly number[]> {
  const summed = intersect(range, snapshot.scopes);
  if (isEmpty(summed) || !needsIds(query, scopes)) return [];
  const rows = await run(otherDaysQuery(scopes, summed, createValues(dialect)));
  return rows.map(({ day_ms }) => Number(day_ms));
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

/** Rows that are read in one event-loop turn: 3 ms. */
const ROWS_PER_TURN = 500;

/** Reads the groups of a report, with pauses in which other requests go on. */
async function readRows(
  rows: readonly Row[],
  { groupBy, isMoneyOnly }: UsageQuery,
): Promise<readonly UsageRow[]> {
  const read: UsageRow[] = [];
  for (const [index, row] of rows.entries()) {
    if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1)
      await new Promise<void>((resolve) => platform.setImmediate(resolve));
    read.push({
      group: readGroups(row, groupBy),
      ...readMeasures(row, isMoneyOnly),
      ok: Number(row.ok ?? 0),
    });
  }
  return read;
}

function readGroups(row: Row, groupBy: readonly UsageDimension[]) {
  return Object.fromEntries(groupBy.map((dimension) => [dimension, readGroup(row[dimension])]));
}

function readGroup(value: unknown): string | number | null {
  if (typeof value === "bigint") return Number(value);
  return typeof value === "string" ? value : null;
}
