import { firstIdOf, ID_TIME_MAX } from "../../domain/id-time.ts";
import type { Nanos } from "../../domain/money.ts";
import type { PeriodSpend } from "../core/book.ts";
import { countedPeriodOf } from "../core/wallet.ts";
import type { SpendLimit } from "../records.ts";
import {
  type Coverage,
  coverByReceipts,
  coverRange,
  isSameSnapshot,
  rangeOf,
  readSnapshotRows,
  SNAPSHOT_COLUMNS,
  snapshotQuery,
  type TimeRange,
} from "./coverage.ts";
import { createValues, type Dialect, type Query, type Row, type Values } from "./query.ts";
import { conditionsOf } from "./receipts.ts";
import { rollUpConditions } from "./roll-up-tables.ts";
import { PART, partsOf } from "./usage-columns.ts";

/** Reads in steps: each query is run by the store, which passes its rows back. */
export type SpendRead = Generator<Query, PeriodSpend, readonly Row[]>;

interface Receipts {
  readonly walletId: string;
  readonly keyId: string | undefined;
}

/** How often a sum is repeated because the roll-ups changed meanwhile, before it reads receipts only. */
const TRIES_MAX = 5;

/**
 * Sums what the receipts of a limit's current period come to, from roll-ups where they are current, as usage
 * does. Must be run under the wallet's lock. Receipts are of the period that the time in their ids is in.
 */
export function* readPeriodSpend(dialect: Dialect, limit: SpendLimit, nowMs: number): SpendRead {
  const { walletId, keyId } = limit;
  const fromMs = Math.max(0, countedPeriodOf(limit, nowMs)?.periodStartMs ?? 0);
  const range = rangeOf({ fromMs });
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const snapshot = readSnapshotRows(yield snapshotQuery(dialect, { walletId, range }));
    const rows = yield sumsOf(dialect, { walletId, keyId }, coverRange(range, snapshot, true));
    if (isSameSnapshot(rows[0], snapshot)) return spendOf(keyId, fromMs, rows[0]);
  }
  const rows = yield sumsOf(dialect, { walletId, keyId }, coverByReceipts(range));
  return spendOf(keyId, fromMs, rows[0]);
}

function spendOf(keyId: string | undefined, fromMs: number, row: Row | undefined): PeriodSpend {
  const read = (name: string): Nanos => BigInt((row?.[name] ?? 0) as bigint | string | number);
  return { keyId, firstId: firstIdOf(fromMs), amount: read("high") * PART + read("low") };
}

function sumsOf(dialect: Dialect, receipts: Receipts, { receipts: ranges, hours, days }: Coverage): Query {
  const values = createValues(dialect);
  const parts = [
    ...ranges.map((range) => receiptSums(dialect, receipts, range, values)),
    ...hours.map((range) => rollUpSums("usage_hours", receipts, range, values)),
    ...days.map((range) => rollUpSums("usage_days", receipts, range, values)),
  ];
  const sql = `SELECT * FROM (SELECT ${SNAPSHOT_COLUMNS} FROM usage_cursor) AS state CROSS JOIN (
      SELECT sum(high) AS high, sum(low) AS low FROM (${parts.join(" UNION ALL ")}) AS parts) AS sums`;
  return { sql, values: values.all };
}

function receiptSums(dialect: Dialect, receipts: Receipts, range: TimeRange, values: Values): string {
  const toMs = range.toMs > ID_TIME_MAX ? undefined : range.toMs;
  const conditions = conditionsOf({ ...receipts, fromMs: range.fromMs, toMs }, values, dialect);
  const [high, low] = partsOf("captured - refunded");
  return `SELECT sum(${high}) AS high, sum(${low}) AS low FROM holds WHERE ${conditions.join(" AND ")}`;
}

function rollUpSums(table: string, { walletId, keyId }: Receipts, range: TimeRange, values: Values): string {
  const conditions = [
    `wallet_id = ${values.add(walletId)}`,
    `start_ms >= ${values.add(range.fromMs)}`,
    `start_ms < ${values.add(range.toMs)}`,
    ...rollUpConditions({ keyId }, values),
  ];
  const sum = (part: string) =>
    `sum(coalesce(captured_${part}, 0) - coalesce(refunded_${part}, 0)) AS ${part}`;
  return `SELECT ${sum("high")}, ${sum("low")} FROM ${table} WHERE ${conditions.join(" AND ")}`;
}
