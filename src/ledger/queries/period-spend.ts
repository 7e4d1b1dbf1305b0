import { firstIdOf, ID_TIME_MAX } from "../../domain/id-time.ts";
import type { Nanos } from "../../domain/money.ts";
import { type PeriodSpend, TRANSFER_KINDS } from "../core/book.ts";
import type { SeenSpend, SetLimitCommand } from "../core/command.ts";
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
type SteppedRead<Result> = Generator<Query, Result, readonly Row[]>;

/** How often a sum is repeated because the roll-ups changed meanwhile, before it reads receipts only. */
const TRIES_MAX = 5;

/** The most receipts that are read while the wallet is locked: some 20 ms, in which SQLite serves nothing else. */
const LOCKED_RECEIPTS_MAX = 5_000;

/**
 * Sums what the receipts of a limit's current period come to. Must be run under the wallet's lock. Receipts are of the
 * period that the time in their ids is in. Of a period that was summed up before, it reads the transfers since.
 */
export function* readPeriodSpend(
  dialect: Dialect,
  limit: SetLimitCommand,
  nowMs: number,
): SteppedRead<PeriodSpend> {
  const { seen } = limit;
  const fromMs = periodStartOf(limit, nowMs);
  const firstId = firstIdOf(fromMs);
  if (seen?.fromMs !== fromMs) {
    const found = yield* sumPeriod(dialect, limit, { fromMs, receiptsMax: LOCKED_RECEIPTS_MAX });
    return { bound: limit, firstId, amount: found?.amount };
  }
  const [row] = yield transfersSince(dialect, limit, { firstId, position: seen.position });
  return { bound: limit, firstId, amount: seen.amount + amountOf(row) };
}

function periodStartOf(limit: SpendLimit, nowMs: number): number {
  return Math.max(0, countedPeriodOf(limit, nowMs)?.periodStartMs ?? 0);
}

/** Sums the receipts of a limit's current period, however many they are. Needs no lock. */
export function* readSeenSpend(
  dialect: Dialect,
  limit: SpendLimit,
  nowMs: number,
): SteppedRead<SeenSpend | undefined> {
  return yield* sumPeriod(dialect, limit, { fromMs: periodStartOf(limit, nowMs), receiptsMax: undefined });
}

interface Period {
  readonly fromMs: number;
  readonly receiptsMax: number | undefined;
}

/** From roll-ups where they are current, as usage does. `undefined` for more receipts beside them than `receiptsMax`. */
function* sumPeriod(
  dialect: Dialect,
  limit: SpendLimit,
  { fromMs, receiptsMax }: Period,
): SteppedRead<SeenSpend | undefined> {
  const { walletId } = limit;
  const range = rangeOf({ fromMs });
  const scope = scopeOf(limit);
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const snapshot = readSnapshotRows(yield snapshotQuery(dialect, { walletId, range }));
    const otherDays = scope ? yield* readOtherDays(dialect, scope, intersect(range, snapshot.scopes)) : [];
    const keys = coverRange(range, snapshot, true);
    const scopes = coverScopes(range, snapshot, otherDays);
    const { receipts } = scope ? scopes : keys;
    if (yield* hasMore(dialect, walletId, receipts, receiptsMax)) return undefined;
    const rows = yield sumsOf(dialect, limit, { keys, scopes });
    if (isSameSnapshot(rows[0], snapshot)) return seenIn(rows[0], fromMs);
  }
  if (yield* hasMore(dialect, walletId, [range], receiptsMax)) return undefined;
  const receipts = { keys: coverByReceipts(range), scopes: { receipts: [range], days: [], mixedDays: [] } };
  const rows = yield sumsOf(dialect, limit, receipts);
  return seenIn(rows[0], fromMs);
}

/** Whether ranges have more receipts than a number. SQLite also reads those of other wallets on the way. */
function* hasMore(
  dialect: Dialect,
  walletId: string,
  ranges: readonly TimeRange[],
  receiptsMax: number | undefined,
): SteppedRead<boolean> {
  if (receiptsMax === undefined || ranges.length === 0) return false;
  const values = createValues(dialect);
  const wallet = dialect.holdsKey === "id first" ? undefined : walletId;
  const found = ranges.map(({ fromMs, toMs }) => {
    const filter = { walletId: wallet, fromMs, toMs: toMs > ID_TIME_MAX ? undefined : toMs };
    return `SELECT 1 FROM holds WHERE ${conditionsOf(filter, values, dialect).join(" AND ")}`;
  });
  const sql = `SELECT count(*) AS found FROM (SELECT 1 FROM (${found.join(" UNION ALL ")}) AS holds
    LIMIT ${values.add(receiptsMax + 1)}) AS counted`;
  const [row] = yield { sql, values: values.all };
  return Number(row?.found ?? 0) > receiptsMax;
}

function seenIn(row: Row | undefined, fromMs: number): SeenSpend {
  return { fromMs, amount: amountOf(row), position: BigInt(String(row?.position ?? 0)) };
}

function amountOf(row: Row | undefined): Nanos {
  const read = (name: string) => BigInt(String(row?.[name] ?? 0));
  return read("high") * PART + read("low");
}

interface Since {
  readonly firstId: string;
  readonly position: bigint;
}

/** Sums the charges less refunds that were booked since for what a limit counts. */
function transfersSince(dialect: Dialect, limit: SpendLimit, { firstId, position }: Since): Query {
  const values = createValues(dialect);
  const scope = scopeOf(limit);
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
