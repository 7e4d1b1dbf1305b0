import { MEASURE_COLUMNS, OTHER } from "../../db/usage-columns.ts";
import { DAY_MS } from "../../domain/id-time.ts";
import { UNSTORABLE } from "../../domain/scope.ts";
import type { UsageQuery } from "../records.ts";
import type { ScopeDimension, UsageDimension } from "../usage-records.ts";
import {
  coverRange,
  intersect,
  isEmpty,
  joinToParts,
  type RollUpSnapshot,
  type TimeRange,
  without,
} from "./coverage.ts";
import type { Query, Values } from "./query.ts";
import { addAll } from "./roll-up-tables.ts";
import { furtherOf, isScopeDimension } from "./scope-columns.ts";
import { OK_OF_ROLL_UPS, SUMS_OF_SUMS } from "./usage-columns.ts";
import { groupClause, type PartOptions, receiptSums, type SumParts } from "./usage-sums.ts";

// Sums of usage by scope: from scope days where these have what a query asks for, else from the receipts. A receipt
// counts once among the rows of a kind, so that those without a scope of it are the day less these rows.

/** What a sum takes of the rows of scope days. */
export interface ScopeDaysQuery {
  readonly walletId: string;
  /** The kind whose rows are groups, or of which one is selected. */
  readonly kind: ScopeDimension;
  /** The id of the scope that is selected; `undefined` for groups. */
  readonly id: string | undefined;
}

/** The conditions of a filter that scope days lack. */
const LACKED = ["keyId", "surface", "model", "upstream", "state", "outcome", "metadata"] as const;

/** Returns what a query takes of scope days; `undefined` when it names no scope, or asks for what these lack. */
export function scopeDaysOf(query: UsageQuery, offsetHours: number): ScopeDaysQuery | undefined {
  const { walletId, groupBy, among, tagKey = "" } = query;
  if (walletId === undefined || LACKED.some((name) => query[name] !== undefined)) return undefined;
  const dimensions = groupBy.filter(isScopeDimension);
  const hasTimes = groupBy.every((each) => isScopeDimension(each) || each === "wallet" || each === "day");
  if (!hasTimes || dimensions.length > 1 || (groupBy.includes("day") && offsetHours !== 0)) return undefined;
  const [dimension] = dimensions;
  if (among !== undefined && groupBy.at(-1) !== dimension) return undefined;
  const [scope, ...others] = query.scopes ?? [];
  if (others.length > 0) return undefined;
  if (!scope) {
    // The key of a row's tag ends with the first equals sign.
    const isKept = dimension !== "tag" || !tagKey.includes("=");
    return dimension && isKept ? { walletId, kind: dimension, id: undefined } : undefined;
  }
  // A receipt of one scope may be of the group of another one; it counts for one project only.
  const isGrouped = dimension !== undefined && (dimension !== "project" || scope.kind !== "project");
  const { kind, id } = scope;
  return isGrouped || !isScopeDimension(kind) || UNSTORABLE.test(id) ? undefined : { walletId, kind, id };
}

/** Whether a query needs the sums of single scopes, which a day with a row for all others may lack. */
export function needsIds({ among }: UsageQuery, { kind, id }: ScopeDaysQuery): boolean {
  return id !== undefined || among !== undefined || kind === "tag";
}

/** Returns the statement that finds the days of a range that have a row for all other scopes of a kind. */
export function otherDaysQuery(
  { walletId, kind }: Pick<ScopeDaysQuery, "walletId" | "kind">,
  { fromMs, toMs }: TimeRange,
  values: Values,
): Query {
  const wallet = values.add(walletId);
  const sql = `SELECT day_ms FROM (SELECT DISTINCT start_ms AS day_ms FROM usage_days WHERE wallet_id = ${wallet}
      AND start_ms >= ${values.add(fromMs)} AND start_ms < ${values.add(toMs)}) AS days
    WHERE EXISTS (SELECT 1 FROM usage_scope_days WHERE wallet_id = ${wallet} AND start_ms = day_ms
      AND kind IN ('${kind}', '${furtherOf(kind)}') AND scope_id = '${OTHER}') ORDER BY day_ms`;
  return { sql, values: values.all };
}

/** Which parts of a range are summed from where. */
export interface ScopeCoverage {
  readonly receipts: readonly TimeRange[];
  /** Days that have all that is asked for. */
  readonly days: readonly TimeRange[];
  /** Days that have a row for all other scopes, and whose receipts are not all kept. */
  readonly mixedDays: readonly TimeRange[];
}

/** Takes whole days from scope days, and the rest from receipts, as are those of `otherDays` that are all kept. */
export function coverScopes(
  range: TimeRange,
  snapshot: RollUpSnapshot,
  otherDays: readonly number[],
): ScopeCoverage {
  const { days: whole } = coverRange(range, snapshot, true);
  const days = whole.map((part) => intersect(part, snapshot.scopes)).filter((part) => !isEmpty(part));
  const kept = joinToParts(
    otherDays.filter((startMs) => startMs >= snapshot.receiptsFromMs),
    DAY_MS,
  );
  const mixed = joinToParts(
    otherDays.filter((startMs) => startMs < snapshot.receiptsFromMs),
    DAY_MS,
  );
  const taken = withoutAll(days, kept);
  const clear = withoutAll(taken, mixed);
  return { receipts: withoutAll([range], taken), days: clear, mixedDays: withoutAll(taken, clear) };
}

/** Removes sorted ranges from sorted ranges. */
function withoutAll(ranges: readonly TimeRange[], removed: readonly TimeRange[]): readonly TimeRange[] {
  return ranges.flatMap((range) =>
    without(
      range,
      removed.map((part) => intersect(part, range)).filter((part) => !isEmpty(part)),
    ),
  );
}

/** Returns the parts of a coverage. */
export function partsOfScopes(
  query: UsageQuery,
  taken: ScopeDaysQuery,
  { receipts, days, mixedDays }: ScopeCoverage,
  options: PartOptions,
): SumParts {
  const { values } = options;
  const segments = [
    { ranges: days, isMixed: false },
    { ranges: mixedDays, isMixed: true },
  ].filter(({ ranges }) => ranges.length > 0);
  const summed = segments.map(({ ranges, isMixed }, index) => {
    const segment = { query, ...taken, ranges, isMixed, name: `scoped_${index}`, values };
    return taken.id === undefined ? groupSums(segment) : selectedSums(segment, taken.id);
  });
  return {
    tables: summed.flatMap(({ tables }) => tables),
    parts: [
      ...receipts.map((range) => receiptSums(query, range, options)),
      ...summed.flatMap(({ parts }) => parts),
    ],
    subtracts: summed.some(({ subtracts }) => subtracts),
  };
}

/** Days of one wallet that are summed from scope days together. */
interface Segment extends ScopeDaysQuery {
  readonly query: UsageQuery;
  readonly ranges: readonly TimeRange[];
  readonly isMixed: boolean;
  /** The name of its table. */
  readonly name: string;
  readonly values: Values;
}

/** Sums the rows of a kind by group. The receipts without such a scope are the days less these rows. */
function groupSums(segment: Segment): SumParts {
  const { query, kind, name, values } = segment;
  const { groupBy, among } = query;
  const prefix = kind === "tag" ? `CAST(${values.add(`${query.tagKey}=`)} AS text)` : undefined;
  const id = prefix ? `substr(scope_id, length(${prefix}) + 1)` : "scope_id";
  const hasRest = among === undefined || (kind === "project" && among.includes(segment.walletId));
  const conditions = [
    ...rowsOf(segment, [kind]),
    ...(prefix ? [`substr(scope_id, 1, length(${prefix})) = ${prefix}`] : []),
    ...(among && !hasRest
      ? [
          `scope_id IN (${addAll(
            among.map((each) => idOf(query, kind, each)),
            values,
          )})`,
        ]
      : []),
  ];
  const sums = [...dimensionsOf(groupBy, id), ...SUMS_OF_SUMS, "sum(ok) AS ok"];
  const table = `${name} AS MATERIALIZED (SELECT ${sums.join(", ")} FROM usage_scope_days
    WHERE ${conditions.join(" AND ")} ${groupClause(groupBy)})`;
  const groups = groupBy.map((each) => `"${each}"`);
  const rows = `SELECT ${[...groups, ...MEASURE_COLUMNS, "ok"].join(", ")} FROM ${name}`;
  if (!hasRest) return { tables: [table], parts: [rows], subtracts: false };
  const rest = restOf(segment);
  const restOfRows = groupBy.map((each) => `${isScopeDimension(each) ? rest : `"${each}"`} AS "${each}"`);
  const less = `SELECT ${[...restOfRows, ...SUBTRACTED].join(", ")} FROM ${name} ${groupClause(groupBy)}`;
  return { tables: [table], parts: [rows, less, daySums(segment, rest)], subtracts: true };
}

/** Sums the rows of one scope. The default project has the receipts without a project, which have no rows. */
function selectedSums(segment: Segment, id: string): SumParts {
  const { query, walletId, kind, values } = segment;
  // PostgreSQL knows no type of a value that no part of the statement has.
  const isGroup = query.groupBy.some(isScopeDimension);
  const group = isGroup ? `CAST(${values.add(id)} AS text)` : "";
  const sumsOf = (kinds: readonly string[], condition: string, sums: readonly string[]) =>
    `SELECT ${[...dimensionsOf(query.groupBy, group), ...sums].join(", ")} FROM usage_scope_days
      WHERE ${[...rowsOf(segment, kinds), condition].join(" AND ")} ${groupClause(query.groupBy)}`;
  if (kind === "project" && id === walletId) {
    const others = sumsOf([kind], `scope_id <> ${values.add(id)}`, SUBTRACTED);
    return { tables: [], parts: [daySums(segment, group), others], subtracts: true };
  }
  const kinds = kind === "project" ? [kind] : [kind, furtherOf(kind)];
  const rows = sumsOf(kinds, `scope_id = ${values.add(id)}`, [...SUMS_OF_SUMS, "sum(ok) AS ok"]);
  return { tables: [], parts: [rows], subtracts: false };
}

/** The SQL of sums that are taken off. */
const SUBTRACTED: readonly string[] = [...MEASURE_COLUMNS, "ok"].map((name) => `-sum(${name}) AS ${name}`);

/** Sums all receipts of the days, as one group of the scope. */
function daySums({ query: { groupBy }, walletId, ranges, values }: Segment, group: string): string {
  const sums = [...dimensionsOf(groupBy, group), ...SUMS_OF_SUMS, OK_OF_ROLL_UPS];
  return `SELECT ${sums.join(", ")} FROM usage_days
    WHERE wallet_id = ${values.add(walletId)} AND ${within(ranges, values)} ${groupClause(groupBy)}`;
}

/** The group of receipts without a scope. The row of all other tags has those of every key. */
function restOf({ kind, walletId, isMixed, values }: Segment): string {
  if (kind === "project") return `CAST(${values.add(walletId)} AS text)`;
  return `CAST(${kind === "tag" && isMixed ? values.add(OTHER) : "NULL"} AS text)`;
}

function dimensionsOf(groupBy: readonly UsageDimension[], group: string): readonly string[] {
  return groupBy.map((each) => {
    if (isScopeDimension(each)) return `${group} AS "${each}"`;
    return `${each === "day" ? "start_ms" : "wallet_id"} AS "${each}"`;
  });
}

/** The id of a scope, of which tags are named by their values. */
function idOf({ tagKey }: UsageQuery, kind: ScopeDimension, value: string): string {
  return kind === "tag" ? `${tagKey}=${value}` : value;
}

/** The conditions of rows of kinds. By day, so that the rows of one scope are found by the primary key. */
export function rowsOf(
  { walletId, ranges, values }: Pick<Segment, "walletId" | "ranges" | "values">,
  kinds: readonly string[],
): readonly string[] {
  const wallet = values.add(walletId);
  const days = `SELECT start_ms FROM usage_days WHERE wallet_id = ${wallet} AND ${within(ranges, values)}`;
  const kind = `kind IN (${kinds.map((each) => `'${each}'`).join(", ")})`;
  return [`wallet_id = ${wallet}`, `start_ms IN (${days})`, kind];
}

/** The condition of sorted ranges. */
export function within(ranges: readonly TimeRange[], values: Values): string {
  const isIn = ({ fromMs, toMs }: TimeRange) =>
    `start_ms >= ${values.add(fromMs)} AND start_ms < ${values.add(toMs)}`;
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (!first || !last) return "false";
  const whole = isIn({ fromMs: first.fromMs, toMs: last.toMs });
  return first === last ? whole : `${whole} AND (${ranges.map((each) => `(${isIn(each)})`).join(" OR ")})`;
}
