import { chunksOf } from "../../domain/chunks.ts";
import { isCalendar, periodStart, windowMs } from "../../domain/period.ts";
import { counterIdOf } from "../core/spender.ts";
import { bindingStart, startsAround } from "../core/window.ts";
import { LedgerError } from "../ledger.ts";
import type { FullLimits, FullLimitsQuery, SpendLimit, SpendLimitUsage } from "../records.ts";
import { createValues, type Dialect, isStorable, type Row, type RunQuery } from "./query.ts";
import { readLimitInForce, type SpendLimitRow } from "./rows.ts";
import { type CounterRow, usageOf } from "./wallets.ts";

/** The transfers of one piece, so that a busy wallet holds no reader for long. */
const PIECE_MAX = 5_000;
/** The counters of one statement. */
const COUNTERS_MAX = 1_000;
const PERCENT = 100n;

/**
 * Finds full limits by what was spent, not by what is limited: a template with a million end users costs what their
 * requests since the last piece cost. The journal has every settlement, in the order of its commits.
 */
export function createFullLimitsRead(run: RunQuery, dialect: Dialect, now: () => number) {
  return async (walletId: string, query: FullLimitsQuery): Promise<FullLimits> => {
    const { percent } = query;
    const isQuery = isStorable(walletId) && Number.isInteger(percent) && percent >= 1 && percent <= 100;
    if (!isQuery || !Number.isSafeInteger(query.after ?? 0) || (query.after ?? 0) < 0)
      throw new LedgerError("invalid_query");
    const source = { run, dialect, walletId };
    const last = await findLast(source);
    // A position above the journal is that of another database, such as one before a restore.
    const after = Math.min(query.after ?? last, last);
    const end = await findPieceEnd(source, after, last);
    const touched = await readTouched(source, after, end);
    const limits: SpendLimitUsage[] = [];
    for (const some of chunksOf(touched, COUNTERS_MAX)) {
      for (const row of await readCounters(source, some, percent)) {
        const limit = readFull(row, percent, now());
        if (limit) limits.push(limit);
      }
    }
    return { limits, end, isAtEnd: end === last };
  };
}

interface Source {
  readonly run: RunQuery;
  readonly dialect: Dialect;
  readonly walletId: string;
}

/** The position of the newest transfer of a wallet; 0 without any. */
async function findLast({ run, dialect, walletId }: Source): Promise<number> {
  const { transferOrder: order } = dialect;
  const values = createValues(dialect);
  const sql = `SELECT ${order} AS position FROM transfers WHERE wallet_id = ${values.add(walletId)}
    ORDER BY ${order} DESC LIMIT 1`;
  const [row] = await run({ sql, values: values.all });
  return Number(row?.position ?? 0);
}

async function findPieceEnd(
  { run, dialect, walletId }: Source,
  after: number,
  last: number,
): Promise<number> {
  if (after === last) return last;
  const { transferOrder: order } = dialect;
  const values = createValues(dialect);
  const sql = `SELECT ${order} AS position FROM transfers WHERE wallet_id = ${values.add(walletId)}
    AND ${order} > ${values.add(after)} AND ${order} <= ${values.add(last)}
    ORDER BY ${order} LIMIT 1 OFFSET ${PIECE_MAX - 1}`;
  const [row] = await run({ sql, values: values.all });
  return row ? Number(row.position) : last;
}

/** Returns the counters of the holds and charges of a piece, and of all open holds, as pairs of id and start. */
async function readTouched({ run, dialect, walletId }: Source, after: number, end: number) {
  const { transferOrder: order } = dialect;
  const values = createValues(dialect);
  const wallet = values.add(walletId);
  // By a subquery for each transfer, so that its receipt is found by the primary key, whatever the planner expects.
  const sql = `SELECT DISTINCT ${dialect.item(0, "text")} AS counter_id, ${dialect.item(1, "integer")} AS start_ms
    FROM (SELECT (SELECT limits FROM holds WHERE holds.wallet_id = transfers.wallet_id
          AND holds.hold_id = transfers.hold_id) AS limits
        FROM transfers WHERE wallet_id = ${wallet} AND hold_id IS NOT NULL
          AND ${order} > ${values.add(after)} AND ${order} <= ${values.add(end)}
      UNION ALL
      SELECT limits FROM ${dialect.openHolds} WHERE wallet_id = ${wallet} AND state = 'held') AS spent,
    ${dialect.elements("limits")}`;
  const rows = await run({ sql, values: values.all });
  return rows.map(({ counter_id, start_ms }) => [String(counter_id), Number(start_ms)] as const);
}

/**
 * The counters that may be full: integers are divided before they are multiplied, so that none overflows. SQLite keeps
 * the order of a CROSS JOIN: it would else read a million counters for each that is wanted.
 */
async function readCounters(
  { run, dialect, walletId }: Source,
  counters: readonly (readonly [counterId: string, startMs: number])[],
  percent: number,
): Promise<readonly Row[]> {
  const values = createValues(dialect);
  const wallet = values.add(walletId);
  const wanted = `SELECT ${dialect.item(0, "text")} AS counter_id, ${dialect.item(1, "integer")} AS start_ms
    FROM ${dialect.elements(values.add(JSON.stringify(counters)))}`;
  const sql = `SELECT l.wallet_id, l.limit_id, key_id, each_kind, period, time_zone, amount, used, held,
      counter_id, period_start_ms, ${startBeside("<")} AS before_ms, ${startBeside(">")} AS after_ms
    FROM (${wanted}) AS wanted CROSS JOIN limit_counters AS c CROSS JOIN spend_limits AS l
    WHERE c.wallet_id = ${wallet} AND c.limit_id = counter_id AND c.period_start_ms = start_ms
      AND l.wallet_id = ${wallet} AND l.limit_id = ${dialect.firstPart("counter_id", "\n")} AND l.deleted_at_ms IS NULL
      AND used >= amount / 100 * ${values.add(percent)} - held`;
  return run({ sql, values: values.all });
}

/** SQL for the start of the period before or after that of a counter `c`. */
function startBeside(is: "<" | ">"): string {
  return `(SELECT ${is === "<" ? "max" : "min"}(e.period_start_ms) FROM limit_counters AS e
    WHERE e.wallet_id = c.wallet_id AND e.limit_id = c.limit_id AND e.period_start_ms ${is} c.period_start_ms)`;
}

/** A counter with its limit, and the starts of the periods beside its own. */
type FullRow = CounterRow &
  SpendLimitRow & {
    readonly counter_id: string;
    readonly before_ms: bigint | number | null;
    readonly after_ms: bigint | number | null;
  };

/** `undefined` for a counter that is not full, of a past period, or of another period of its limit. */
function readFull(row: Row, percent: number, nowMs: number): SpendLimitUsage | undefined {
  // Safe because the statement selects these columns, which have the schema's types.
  const counter = row as unknown as FullRow;
  const limit = readLimitInForce(counter);
  const { used, held } = counter;
  if (limit.amount > 0n && (used + held) * PERCENT < limit.amount * BigInt(percent)) return undefined;
  const subject = limit.each === undefined ? undefined : counter.counter_id.split("\n")[1];
  const isCurrent = counterIdOf(limit, subject) === counter.counter_id && isOfNow(limit, counter, nowMs);
  if (!isCurrent) return undefined;
  return { ...limit, ...(subject !== undefined && { subject }), ...usageOf(limit, counter, nowMs) };
}

function isOfNow({ period, timeZone }: SpendLimit, counter: FullRow, nowMs: number): boolean {
  const { before_ms, period_start_ms, after_ms } = counter;
  const startMs = Number(period_start_ms);
  if (isCalendar(period)) return startMs === periodStart(period, nowMs, timeZone);
  // A window further away binds only where none of these does.
  const starts = [before_ms ?? startMs, startMs, after_ms ?? startMs].map(Number);
  return bindingStart(startsAround(starts, nowMs), windowMs(period), nowMs) === startMs;
}
