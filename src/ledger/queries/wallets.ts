import type { Nanos } from "../../domain/money.ts";
import { isCalendar, periodEnd, periodStart, windowMs } from "../../domain/period.ts";
import type { Scope } from "../../domain/scope.ts";
import { balancesOf } from "../core/book.ts";
import { bindingsOf, counterIdOf, NO_SCOPES, type Spender, subjectsOf } from "../core/spender.ts";
import { areScopes, isTime } from "../core/validate.ts";
import { bindingStart, startsAround } from "../core/window.ts";
import { LedgerError } from "../ledger.ts";
import type {
  Balances,
  Page,
  PageRequest,
  SpendLimit,
  SpendLimitOptions,
  SpendLimitUsage,
  WalletListOptions,
  WalletSummary,
} from "../records.ts";
import {
  createPage,
  createValues,
  type Dialect,
  isStorable,
  type PagedList,
  type Row,
  type RunQuery,
  readPage,
  type Values,
} from "./query.ts";
import { readLimitInForce, type SpendLimitRow, type WalletRow } from "./rows.ts";

/** With what of a mixed wallet ended before a time: what is not booked yet, and what open holds claim. */
function columnsAt(nowMs: string, endsBeforeMs?: string): string {
  const sumOf = (condition: string) =>
    `CASE WHEN mixed THEN coalesce((SELECT sum(left_amount) FROM credits c
      WHERE c.wallet_id = wallets.wallet_id AND live AND ${condition}), 0) ELSE 0 END`;
  return `wallet_id, posted, held, credit_limit, state, created_at_ms, newest_hold_ms,
    ${sumOf(`claims IS NULL AND expires_at_ms <= ${nowMs}`)} AS due, ${sumOf("claims IS NOT NULL")} AS kept,
    ${endsBeforeMs ? sumOf(`claims IS NULL AND expires_at_ms > ${nowMs} AND expires_at_ms <= ${endsBeforeMs}`) : "NULL"} AS ending`;
}

const LIST: PagedList = { name: ["wallets"], isPosition: isStorable };

export function createWalletRead(run: RunQuery, dialect: Dialect, now: () => number) {
  return async (walletId: string): Promise<WalletSummary | undefined> => {
    if (!isStorable(walletId)) return undefined;
    const values = createValues(dialect);
    const columns = columnsAt(values.add(now()));
    const sql = `SELECT ${columns} FROM wallets WHERE wallet_id = ${values.add(walletId)}`;
    const [row] = await run({ sql, values: values.all });
    return row && readSummary(row);
  };
}

export function createBalancesRead(run: RunQuery, dialect: Dialect, now: () => number) {
  const wallet = createWalletRead(run, dialect, now);
  return async (walletId: string): Promise<Balances> => {
    const found = await wallet(walletId);
    if (!found) throw new LedgerError("wallet_not_found");
    return found.balances;
  };
}

/** Sorted by id, by its bytes. */
export function createWalletList(run: RunQuery, dialect: Dialect, now: () => number) {
  return async (
    page: PageRequest,
    { endsBeforeMs }: WalletListOptions = {},
  ): Promise<Page<WalletSummary>> => {
    if (endsBeforeMs !== undefined && !isTime(endsBeforeMs)) throw new LedgerError("invalid_query");
    const { after, rowsMax } = readPage(LIST, page);
    const values = createValues(dialect);
    const condition = after === undefined ? "" : `WHERE wallet_id > ${values.add(after)}`;
    const nowMs = values.add(now());
    const columns = columnsAt(nowMs, endsBeforeMs === undefined ? undefined : values.add(endsBeforeMs));
    const sql = `SELECT ${columns} FROM wallets ${condition} ORDER BY wallet_id LIMIT ${values.add(rowsMax)}`;
    const rows = await run({ sql, values: values.all });
    return createPage(LIST, page, { rows, read: readSummary, positionOf: ({ walletId }) => walletId });
  };
}

function readSummary(row: Row): WalletSummary {
  // Safe because the statement selects these columns, which have the schema's types.
  const { wallet_id, posted, held, credit_limit, state, created_at_ms, newest_hold_ms } =
    row as unknown as WalletRow;
  const booked = balancesOf({ posted, held, creditLimit: credit_limit });
  const balances = { ...booked, available: booked.available - endedOf(row, held) };
  return {
    walletId: wallet_id,
    state,
    balances,
    creditLimit: credit_limit,
    createdAtMs: Number(created_at_ms),
    newestHoldAtMs: Number(newest_hold_ms) || undefined,
    ending: row.ending === null || row.ending === undefined ? undefined : BigInt(String(row.ending)),
  };
}

/** What credits lose whose end has come and is not booked: all but what the open holds claim of them. */
function endedOf({ due, kept }: Row, held: Nanos): Nanos {
  const left = BigInt(String(due));
  const claimable = held - BigInt(String(kept));
  if (claimable <= 0n) return left;
  return left > claimable ? left - claimable : 0n;
}

/**
 * The limits in force, each with the counter of its current period. Sorted by id. A template has a row for each scope
 * that it counts of the spender.
 */
export function createSpendLimitList(run: RunQuery, dialect: Dialect, now: () => number) {
  return async (
    walletId: string,
    keyId?: string,
    scopes: readonly Scope[] = NO_SCOPES,
    { omitsRuns = false }: SpendLimitOptions = {},
  ): Promise<readonly SpendLimitUsage[]> => {
    if (!isStorable(walletId) || (keyId !== undefined && !isStorable(keyId)) || !areScopes(scopes)) return [];
    const spender = keyId === undefined ? undefined : { keyId, scopes };
    const limits = await readLimits(run, dialect, { walletId, spender, omitsRuns });
    if (limits.length === 0) return [];
    const nowMs = now();
    const counted = limits.flatMap((limit) => countedBy(limit, spender));
    const counters = await readCounters(run, dialect, { walletId, counted, nowMs });
    return counted.map(({ limit, subject, counterId }) => ({
      ...limit,
      ...(subject !== undefined && { subject }),
      ...usageOf(limit, currentOf(limit, counters.get(counterId) ?? [], nowMs), nowMs),
    }));
  };
}

interface LimitOwner {
  readonly walletId: string;
  /** `undefined` for every limit of the wallet. */
  readonly spender: Spender | undefined;
  readonly omitsRuns: boolean;
}

async function readLimits(run: RunQuery, dialect: Dialect, { walletId, spender, omitsRuns }: LimitOwner) {
  const values = createValues(dialect);
  const wallet = values.add(walletId);
  const selects = bindingConditions({ spender, omitsRuns }, values).map(
    (condition) => `SELECT wallet_id, limit_id, key_id, each_kind, period, time_zone, amount FROM spend_limits
      WHERE wallet_id = ${wallet} AND deleted_at_ms IS NULL AND ${condition}`,
  );
  const sql = `${selects.join(" UNION ALL ")} ORDER BY limit_id`;
  return (await run({ sql, values: values.all })).map(readLimit);
}

/** The bindings of limits of runs have this prefix, and are below the text that follows. */
const [RUNS, AFTER_RUNS] = ["run\n", "run\v"];

/** Conditions of which a limit that is listed meets one. Ranges of the index: a wallet may have a million runs. */
function bindingConditions(
  { spender, omitsRuns }: Omit<LimitOwner, "walletId">,
  values: Values,
): readonly string[] {
  if (!spender && !omitsRuns) return ["TRUE"];
  if (!spender)
    return ["key_id IS NULL", `key_id < ${values.add(RUNS)}`, `key_id >= ${values.add(AFTER_RUNS)}`];
  const bindings = bindingsOf(spender).map((binding) => values.add(binding));
  return [`(key_id IS NULL OR key_id IN (${bindings.join(", ")}))`];
}

/** A limit with one of its counters. */
interface CountedLimit {
  readonly limit: SpendLimit;
  readonly subject: string | undefined;
  readonly counterId: string;
}

function countedBy(limit: SpendLimit, spender: Spender | undefined): readonly CountedLimit[] {
  const subjects = spender ? subjectsOf(limit, spender) : [undefined];
  return subjects.map((subject) => ({ limit, subject, counterId: counterIdOf(limit, subject) }));
}

interface CountedLimits {
  readonly walletId: string;
  readonly counted: readonly CountedLimit[];
  readonly nowMs: number;
}

/** Returns the counters of current periods by their ids; of windows, those that overlap one that begins now. */
async function readCounters(run: RunQuery, dialect: Dialect, { walletId, counted, nowMs }: CountedLimits) {
  const ranges = counted.map(({ limit: { period, timeZone }, counterId }) =>
    isCalendar(period)
      ? [counterId, periodStart(period, nowMs, timeZone), periodStart(period, nowMs, timeZone)]
      : [counterId, nowMs - windowMs(period) + 1, nowMs + windowMs(period) - 1],
  );
  const values = createValues(dialect);
  const wanted = `SELECT ${dialect.item(0, "text")} AS limit_id, ${dialect.item(1, "integer")} AS from_ms,
    ${dialect.item(2, "integer")} AS to_ms FROM ${dialect.elements(values.add(JSON.stringify(ranges)))}`;
  // SQLite keeps the order of a CROSS JOIN: it would else read every counter of a template for each that is wanted.
  const sql = `SELECT c.limit_id AS limit_id, period_start_ms, used, held
    FROM (${wanted}) AS wanted CROSS JOIN limit_counters AS c
    WHERE c.wallet_id = ${values.add(walletId)} AND c.limit_id = wanted.limit_id
      AND c.period_start_ms BETWEEN from_ms AND to_ms`;
  // Safe because the statement selects these columns, which have the schema's types.
  const rows = (await run({ sql, values: values.all })) as unknown as readonly CounterRow[];
  return Map.groupBy(rows, ({ limit_id }) => limit_id);
}

export interface CounterRow {
  readonly limit_id: string;
  readonly period_start_ms: bigint | number;
  readonly used: bigint;
  readonly held: bigint;
}

/** Returns the counter of the current period: of several windows, the one that binds now. */
function currentOf({ period }: SpendLimit, counters: readonly CounterRow[], nowMs: number) {
  if (isCalendar(period)) return counters[0];
  const starts = counters.map(({ period_start_ms }) => Number(period_start_ms));
  const startMs = bindingStart(startsAround(starts, nowMs), windowMs(period), nowMs);
  return counters.find(({ period_start_ms }) => Number(period_start_ms) === startMs);
}

/** `counter` is that of the current period. */
export function usageOf({ period, timeZone }: SpendLimit, counter: CounterRow | undefined, nowMs: number) {
  const resetsAtMs = isCalendar(period)
    ? periodEnd(period, nowMs, timeZone)
    : counter && Number(counter.period_start_ms) + windowMs(period);
  return { used: counter?.used ?? 0n, held: counter?.held ?? 0n, resetsAtMs };
}

function readLimit(row: Row): SpendLimit {
  // Safe because the statement selects these columns, which have the schema's types.
  return readLimitInForce(row as unknown as SpendLimitRow);
}
