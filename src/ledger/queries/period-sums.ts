import { ID_TIME_MAX } from "../../domain/id-time.ts";
import { TRANSFER_KINDS } from "../core/book.ts";
import type { SpendLimit } from "../records.ts";
import type { ScopeDimension } from "../usage-records.ts";
import { type Coverage, SNAPSHOT_COLUMNS, type TimeRange } from "./coverage.ts";
import { createValues, type Dialect, type Query, type Values } from "./query.ts";
import { conditionsOf } from "./receipts.ts";
import { furtherOf, hasScope, isScopeDimension } from "./scope-columns.ts";
import { rowsOf, type ScopeCoverage, within } from "./scope-days.ts";
import { partsOf } from "./usage-columns.ts";

// The statements that sum up what was spent for what a limit binds.

/** A scope whose receipts count against a limit. */
export interface SpentScope {
  readonly walletId: string;
  readonly kind: ScopeDimension;
  readonly id: string;
}

/** Returns the scope of a limit; of one of a key, that of the keys below it; `undefined` for the wallet. */
export function spentScopeOf({ walletId, keyId, scope }: SpendLimit): SpentScope | undefined {
  if (keyId !== undefined) return { walletId, kind: "parent_key", id: keyId };
  return scope && isScopeDimension(scope.kind) ? { walletId, kind: scope.kind, id: scope.id } : undefined;
}

/** From where a period is summed: what has a key or the whole wallet, and what has a scope. */
interface PeriodCoverage {
  readonly keys: Coverage;
  readonly scopes: ScopeCoverage;
}

export function sumsOf(dialect: Dialect, limit: SpendLimit, { keys, scopes }: PeriodCoverage): Query {
  const values = createValues(dialect);
  const scope = spentScopeOf(limit);
  const parts = [
    ...(limit.scope ? [] : keyParts(dialect, limit, keys, values)),
    ...(scope ? scopeParts(dialect, scope, scopes, values) : []),
  ];
  const position = `(SELECT ${dialect.transferOrder} FROM transfers WHERE wallet_id = ${values.add(limit.walletId)}
    ORDER BY ${dialect.transferOrder} DESC LIMIT 1) AS position`;
  const sql = `SELECT * FROM (SELECT ${SNAPSHOT_COLUMNS}, ${position} FROM usage_cursor) AS state CROSS JOIN (
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

/** The parts of a scope. Receipts without a project have no rows: they are the day less those of projects. */
function scopeParts(
  dialect: Dialect,
  { walletId, kind, id }: SpentScope,
  { receipts, days, mixedDays }: ScopeCoverage,
  values: Values,
): readonly string[] {
  const isOfDefault = kind === "project" && id === walletId;
  const found = receipts.map((range) => {
    // A receipt of the key itself is counted already.
    const isBelow = kind === "parent_key" ? [`key_id <> ${values.add(id)}`] : [];
    const conditions = [scopeCondition(dialect, { walletId, kind, id }, values), ...isBelow];
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

interface Since {
  readonly firstId: string;
  readonly position: bigint;
}

/** Sums the charges less refunds that were booked since for what a limit counts. */
export function transfersSince(dialect: Dialect, limit: SpendLimit, { firstId, position }: Since): Query {
  const values = createValues(dialect);
  const scope = spentScopeOf(limit);
  const has = scope ? scopeCondition(dialect, scope, values) : "true";
  const { keyId } = limit;
  const isBound = keyId === undefined ? has : `(key_id = ${values.add(keyId)} OR ${has})`;
  const [high, low] = partsOf(`CASE WHEN kind = ${TRANSFER_KINDS.refund} THEN -amount ELSE amount END`);
  // By a subquery for each transfer, so that its receipt is found by the primary key.
  const sql = `SELECT sum(${high}) AS high, sum(${low}) AS low FROM transfers
    WHERE wallet_id = ${values.add(limit.walletId)} AND ${dialect.transferOrder} > ${values.add(position)}
      AND hold_id >= ${values.add(firstId)} AND EXISTS (SELECT 1 FROM holds
        WHERE holds.wallet_id = transfers.wallet_id AND holds.hold_id = transfers.hold_id AND ${isBound})`;
  return { sql, values: values.all };
}

/** SQL that is true for a receipt of a scope. The default project has the receipts without a project as well. */
function scopeCondition(dialect: Dialect, { walletId, kind, id }: SpentScope, values: Values): string {
  const has = hasScope(kind, { values, dialect }, id);
  if (kind !== "project" || id !== walletId) return has;
  return `(NOT ${hasScope(kind, { values, dialect })} OR ${has})`;
}
