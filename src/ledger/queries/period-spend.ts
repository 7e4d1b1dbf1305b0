import { firstIdOf, ID_TIME_MAX } from "../../domain/id-time.ts";
import type { Nanos } from "../../domain/money.ts";
import type { PeriodSpend } from "../core/book.ts";
import type { SeenSpend, SetLimitCommand } from "../core/command.ts";
import { countedPeriodOf } from "../core/wallet.ts";
import type { SpendLimit } from "../records.ts";
import {
  coverRange,
  intersect,
  isEmpty,
  rangeOf,
  readSnapshotRows,
  rollUpsOfTry,
  snapshotQuery,
  type TimeRange,
  TRIES_MAX,
} from "./coverage.ts";
import { type SpentScope, spentScopeOf, sumsOf, transfersSince } from "./period-sums.ts";
import { createValues, type Dialect, type Query, type Row } from "./query.ts";
import { conditionsOf } from "./receipts.ts";
import { coverScopes, otherDaysQuery } from "./scope-days.ts";
import { PART } from "./usage-columns.ts";

/** Reads in steps: each query is run by the store, which passes its rows back. */
type SteppedRead<Result> = Generator<Query, Result, readonly Row[]>;

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

/**
 * From roll-ups where they are current, as usage does. `undefined` for more receipts beside them than `receiptsMax`,
 * and while the roll-ups change too fast.
 */
function* sumPeriod(
  dialect: Dialect,
  limit: SpendLimit,
  { fromMs, receiptsMax }: Period,
): SteppedRead<SeenSpend | undefined> {
  const { walletId } = limit;
  const range = rangeOf({ fromMs });
  const scope = spentScopeOf(limit);
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const snapshot = readSnapshotRows(yield snapshotQuery(dialect, { walletId, range }));
    const { hours, days, areThere } = rollUpsOfTry(snapshot, tries);
    const otherDays = scope ? yield* readOtherDays(dialect, scope, intersect(range, days.scopes)) : [];
    const keys = coverRange(range, hours, true);
    const scopes = coverScopes(range, days, otherDays);
    const { receipts } = scope ? scopes : keys;
    if (yield* hasMore(dialect, walletId, receipts, receiptsMax)) return undefined;
    const rows = yield sumsOf(dialect, limit, { keys, scopes });
    if (areThere(rows[0])) return seenIn(rows[0], fromMs);
  }
  return undefined;
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

function* readOtherDays(
  dialect: Dialect,
  scope: SpentScope,
  summed: TimeRange,
): Generator<Query, readonly number[], readonly Row[]> {
  if (isEmpty(summed)) return [];
  const rows = yield otherDaysQuery(scope, summed, createValues(dialect));
  return rows.map(({ day_ms }) => Number(day_ms));
}
