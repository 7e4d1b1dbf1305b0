import { firstIdOf, ID_TIME_MAX } from "../../domain/id-time.ts";
import type { Nanos } from "../../domain/money.ts";
import type { PeriodSpend } from "../core/book.ts";
import { countedPeriodOf } from "../core/wallet.ts";
import type { SpendLimit } from "../records.ts";
import type { ScopeDimension } from "../usage-records.ts";
import {
  type Coverage,
  coverByReceipts,
  coverRange,
  intersect,
  isEmpty,
  isSameSnapshot,
  rangeOf,
  readSnapshotRows,
  SNAPSHOT_COLUMNS,
  snapshotQuery,
  type TimeRange,
} from "./coverage.ts";
import { createValues, type Dialect, type Query, type Row, type Values } from "./query.ts";
import { conditionsOf } from "./receipts.ts";
import { furtherOf, hasScope, isScopeDimension } from "./scope-columns.ts";
import { coverScopes, otherDaysQuery, rowsOf, type ScopeCoverage, within } from "./scope-days.ts";
import { PART, partsOf } from "./usage-columns.ts";

/** Reads in steps: each query is run by the store, which passes its rows back. */
export type SpendRead = Generator<Query, PeriodSpend, readonly Row[]>;

/** How often a sum is repeated because the roll-ups changed meanwhile, before it reads receipts only. */
const TRIES_MAX = 5;

/**
 * Sums what the receipts of a limit's current period come to, from roll-ups where they are current, as usage
 * does. Must be run under the wallet's lock. Receipts are of the period that the time in their ids is in.
 */
export function* readPeriodSpend(dialect: Dialect, limit: SpendLimit, nowMs: number): SpendRead {
  const { walletId } = limit;
  const fromMs = Math.max(0, countedPeriodOf(limit, nowMs)?.periodStartMs ?? 0);
  const range = rangeOf({ fromMs });
  const scope = scopeOf(limit);
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const snapshot = readSnapshotRows(yield snapshotQuery(dialect, { walletId, range }));
    const otherDays = scope ? yield* readOtherDays(dialect, scope, intersect(range, snapshot.scopes)) : [];
    const rows = yield sumsOf(dialect, limit, {
      keys: coverRange(range, snapshot, true),
      scopes: coverScopes(range, snapshot, otherDays),
    });
    if (isSameSnapshot(rows[0], snapshot)) return spendOf(limit, fromMs, rows[0]);
  }
  const receipts = { keys: coverByReceipts(range), scopes: { receipts: [range], days: [], mixedDays: [] } };
  const rows = yield sumsOf(dialect, limit, receipts);
  return spendOf(limit, fromMs, rows[0]);
}

function spendOf(bound: SpendLimit, fromMs: number, row: Row | undefined): PeriodSpend {
  const read = (name: string): Nanos => BigInt((row?.[name] ?? 0) as bigint | string | number);
  return { bound, firstId: firstIdOf(fromMs), amount: read("high") * PART + read("low") };
}

/** A scope whose receipts count against a limit. */
interface SpentScope {
  readonly walletId: string;
  readonly kind: ScopeDimension;
  readonly id: string;
}

/** Returns the scope of a limit; of one of a key, that of the keys below it; `undefined` for the wallet. */
function scopeOf({ walletId, keyId, scope }: SpendLimit): SpentScope | undefined {
  if (keyId !== undefined) return { walletId, kind: "parent_key", id: keyId };
  return scope && isScopeDimension(scope.kind) ? { walletId, kind: scope.kind, id: scope.id } : undefined;
}

function* readOtherDays(
  dialect: Dialect,
  scope: SpentScope,
  summed: TimeRange,
): Generator<Query, readonly number[], readonly Row[]> {
  if (isEmpty(summed)) return [];
  const rows = yield otherDaysQuery(scope, summed, createValues(dialect));
  return rows.map(({ day_ms }) => Number(day_ms));
}

/** From where a period is summed: what has a key or the whole wallet, and what has a scope. */
interface PeriodCoverage {
  readonly keys: Coverage;
  readonly scopes: ScopeCoverage;
}

function sumsOf(dialect: Dialect, limit: SpendLimit, { keys, scopes }: PeriodCoverage): Query {
  const values = createValues(dialect);
  const scope = scopeOf(limit);
  const parts = [
    ...(limit.scope ? [] : keyParts(dialect, limit, keys, values)),
    ...(scope ? scopeParts(dialect, scope, scopes, values) : []),
  ];
  const sql = `SELECT * FROM (SELECT ${SNAPSHOT_COLUMNS} FROM usage_cursor) AS state CROSS JOIN (
      SELECT sum(high) AS high, sum(low) AS low FROM (${parts.join(" UNION ALL ")}) AS parts) AS sums`;
  return { sql, values: values.all };
}

/** The parts of a key's own receipts, or of the whole wallet. */
function keyParts(
  dialect: Dialect,
  { walletId, keyId }: SpendLimit,
  { receipts, hours, days }: Coverage,
  values: Values,
): readonly string[] {
  const ofKey = () => (keyId === undefined ? [] : [`key_id = ${values.add(keyId)}`]);
  const rollUps = (table: string, ranges: readonly TimeRange[]) =>
    ranges.map((range) =>
      sumRows(table, [`wallet_id = ${values.add(walletId)}`, within([range], values), ...ofKey()]),
    );
  return [
    ...receipts.map((range) => sumReceipts(dialect, walletId, range, { values, conditions: ofKey() })),
    ...rollUps("usage_hours", hours),
    ...rollUps("usage_days", days),
  ];
}

/** The parts of a scope. The default project has the receipts without a project, which have no rows, as well. */
function scopeParts(
  dialect: Dialect,
  { walletId, kind, id }: SpentScope,
  { receipts, days, mixedDays }: ScopeCoverage,
  values: Values,
): readonly string[] {
  const isOfDefault = kind === "project" && id === walletId;
  const found = receipts.map((range) => {
    const options = { values, dialect };
    const has = hasScope(kind, options, id);
    // A receipt of the key itself is counted already.
    const isBelow = kind === "parent_key" ? [`key_id <> ${values.add(id)}`] : [];
    const conditions = isOfDefault ? [`(NOT ${hasScope(kind, options)} OR ${has})`] : [has, ...isBelow];
    return sumReceipts(dialect, walletId, range, { values, conditions });
  });
  const ranges = [...days, ...mixedDays].toSorted((one, other) => one.fromMs - other.fromMs);
  if (ranges.length === 0) return found;
  const rows = (kinds: readonly string[], condition: string, sign?: "-") =>
    sumRows("usage_scope_days", [...rowsOf({ walletId, ranges, values }, kinds), condition], sign);
  const isId = `scope_id = ${values.add(id)}`;
  if (!isOfDefault) return [...found, rows([kind, furtherOf(kind)], isId)];
  return [
    ...found,
    sumRows("usage_days", [`wallet_id = ${values.add(walletId)}`, within(ranges, values)]),
    rows([kind], `NOT ${isId}`, "-"),
    rows([furtherOf(kind)], isId),
  ];
}

interface ReceiptConditions {
  readonly values: Values;
  readonly conditions: readonly string[];
}

function sumReceipts(
  dialect: Dialect,
  walletId: string,
  range: TimeRange,
  { values, conditions }: ReceiptConditions,
): string {
  const toMs = range.toMs > ID_TIME_MAX ? undefined : range.toMs;
  const all = [...conditionsOf({ walletId, fromMs: range.fromMs, toMs }, values, dialect), ...conditions];
  const [high, low] = partsOf("captured - refunded");
  return `SELECT sum(${high}) AS high, sum(${low}) AS low FROM holds WHERE ${all.join(" AND ")}`;
}

function sumRows(table: string, conditions: readonly string[], sign = ""): string {
  const sum = (part: string) =>
    `${sign}sum(coalesce(captured_${part}, 0) - coalesce(refunded_${part}, 0)) AS ${part}`;
  return `SELECT ${sum("high")}, ${sum("low")} FROM ${table} WHERE ${conditions.join(" AND ")}`;
}
