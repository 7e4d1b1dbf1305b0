import { periodEnd, periodStart } from "../../domain/period.ts";
import { balancesOf } from "../core/book.ts";
import { LedgerError } from "../ledger.ts";
import type { Balances, Page, PageRequest, SpendLimit, SpendLimitUsage, WalletSummary } from "../records.ts";
import {
  createPage,
  createValues,
  type Dialect,
  isStorable,
  type PagedList,
  type Row,
  type RunQuery,
  readPage,
} from "./query.ts";
import { readLimitInForce, type SpendLimitRow, type WalletRow } from "./rows.ts";

const COLUMNS = "wallet_id, posted, held, credit_limit, state, created_at_ms";
const LIST: PagedList = { name: ["wallets"], isPosition: isStorable };

export function createWalletRead(run: RunQuery, dialect: Dialect) {
  return async (walletId: string): Promise<WalletSummary | undefined> => {
    if (!isStorable(walletId)) return undefined;
    const values = createValues(dialect);
    const sql = `SELECT ${COLUMNS} FROM wallets WHERE wallet_id = ${values.add(walletId)}`;
    const [row] = await run({ sql, values: values.all });
    return row && readSummary(row);
  };
}

export function createBalancesRead(run: RunQuery, dialect: Dialect) {
  const wallet = createWalletRead(run, dialect);
  return async (walletId: string): Promise<Balances> => {
    const found = await wallet(walletId);
    if (!found) throw new LedgerError("wallet_not_found");
    return found.balances;
  };
}

/** Sorted by id, by its bytes. */
export function createWalletList(run: RunQuery, dialect: Dialect) {
  return async (page: PageRequest): Promise<Page<WalletSummary>> => {
    const { after, rowsMax } = readPage(LIST, page);
    const values = createValues(dialect);
    const condition = after === undefined ? "" : `WHERE wallet_id > ${values.add(after)}`;
    const sql = `SELECT ${COLUMNS} FROM wallets ${condition} ORDER BY wallet_id LIMIT ${values.add(rowsMax)}`;
    const rows = await run({ sql, values: values.all });
    return createPage(LIST, page, { rows, read: readSummary, positionOf: ({ walletId }) => walletId });
  };
}

function readSummary(row: Row): WalletSummary {
  // Safe because the statement selects these columns, which have the schema's types.
  const { wallet_id, posted, held, credit_limit, state, created_at_ms } = row as unknown as Omit<
    WalletRow,
    "last_seq"
  >;
  const balances = balancesOf({ posted, held, creditLimit: credit_limit });
  return {
    walletId: wallet_id,
    state,
    balances,
    creditLimit: credit_limit,
    createdAtMs: Number(created_at_ms),
  };
}

/** The limits in force, each with the counter of its current period. Sorted by id. */
export function createSpendLimitList(run: RunQuery, dialect: Dialect, now: () => number) {
  return async (walletId: string, keyId?: string): Promise<readonly SpendLimitUsage[]> => {
    if (!isStorable(walletId) || (keyId !== undefined && !isStorable(keyId))) return [];
    const limits = await readLimits(run, dialect, { walletId, keyId });
    if (limits.length === 0) return [];
    const nowMs = now();
    const counters = await readCounters(run, dialect, { walletId, limits, nowMs });
    return limits.map((limit) => ({
      ...limit,
      ...(counters.get(limit.limitId) ?? { used: 0n, held: 0n }),
      resetsAtMs: periodEnd(limit.period, nowMs, limit.timeZone),
    }));
  };
}

interface LimitOwner {
  readonly walletId: string;
  readonly keyId: string | undefined;
}

async function readLimits(run: RunQuery, dialect: Dialect, { walletId, keyId }: LimitOwner) {
  const values = createValues(dialect);
  const conditions = [`wallet_id = ${values.add(walletId)}`, "deleted_at_ms IS NULL"];
  if (keyId !== undefined) conditions.push(`(key_id IS NULL OR key_id = ${values.add(keyId)})`);
  const sql = `SELECT wallet_id, limit_id, key_id, period, time_zone, amount FROM spend_limits
    WHERE ${conditions.join(" AND ")} ORDER BY limit_id`;
  return (await run({ sql, values: values.all })).map(readLimit);
}

interface CountedLimits {
  readonly walletId: string;
  readonly limits: readonly SpendLimit[];
  readonly nowMs: number;
}

async function readCounters(run: RunQuery, dialect: Dialect, { walletId, limits, nowMs }: CountedLimits) {
  const keys = limits.map(({ limitId, period, timeZone }) => [limitId, periodStart(period, nowMs, timeZone)]);
  const values = createValues(dialect);
  const wanted = `SELECT ${dialect.item(0, "text")} AS limit_id, ${dialect.item(1, "integer")} AS period_start_ms
    FROM ${dialect.elements(values.add(JSON.stringify(keys)))}`;
  const sql = `SELECT limit_id, used, held FROM (${wanted}) AS wanted
    JOIN limit_counters USING (limit_id, period_start_ms) WHERE wallet_id = ${values.add(walletId)}`;
  const rows = await run({ sql, values: values.all });
  return new Map(
    rows.map((row) => {
      // Safe because the statement selects these columns, which have the schema's types.
      const { limit_id, used, held } = row as unknown as CounterRow;
      return [limit_id, { used, held }];
    }),
  );
}

interface CounterRow {
  readonly limit_id: string;
  readonly used: bigint;
  readonly held: bigint;
}

function readLimit(row: Row): SpendLimit {
  // Safe because the statement selects these columns, which have the schema's types.
  return readLimitInForce(row as unknown as SpendLimitRow);
}
