import type { Counter, Hold, LimitPeriodKey, StoredLimit, Transfer } from "../core/book.ts";
import type { ReadSet } from "../core/read-set.ts";
import {
  type CounterRow,
  type HoldRow,
  readCounter,
  readHold,
  readSpendLimit,
  readTransfer,
  type SpendLimitRow,
  type TransferRow,
  type Value,
} from "../queries/rows.ts";
import { encodeColumns } from "./array.ts";
import type { Connection } from "./session.ts";

/** An item with the wallet it belongs to. */
type OfWallet<Name extends string, Item> = { readonly walletId: string } & {
  readonly [name in Name]: Item;
};

/** The reading statements of a batch. A read without ids sends nothing to the server. */
export interface LoadStatements {
  /** The database's clock and the id of the transaction. */
  transaction(): Promise<{ readonly nowMs: number; readonly transactionId: string }>;
  holds(ids: readonly { walletId: string; holdId: string }[]): Promise<readonly OfWallet<"hold", Hold>[]>;
  /** Open holds past their time, longest overdue first. */
  due(walletIds: readonly string[], nowMs: number, max: number): Promise<readonly OfWallet<"hold", Hold>[]>;
  limits(readSets: ReadonlyMap<string, ReadSet>): Promise<readonly OfWallet<"limit", StoredLimit>[]>;
  postings(readSets: ReadonlyMap<string, ReadSet>): Promise<readonly OfWallet<"transfer", Transfer>[]>;
  counters(
    keys: readonly (LimitPeriodKey & { walletId: string })[],
  ): Promise<readonly OfWallet<"counter", Counter>[]>;
}

/** Creates the statements of one transaction. Those run at once are pipelined in one round trip. */
export function createLoadStatements({ client }: Connection): LoadStatements {
  const run = async <Row>(sql: string, values: Value[]): Promise<readonly Row[]> =>
    await client.unsafe(sql, values).execute();
  const runForRows = async <Row>(
    sql: string,
    rows: readonly (readonly Value[])[],
  ): Promise<readonly Row[]> => (rows.length === 0 ? [] : run<Row>(sql, encodeColumns(rows)));

  return {
    async transaction() {
      const [row] = await run<{ now_ms: bigint; transaction_id: string }>(TRANSACTION, []);
      if (!row) throw new Error("Cannot read the time of the database");
      return { nowMs: Number(row.now_ms), transactionId: row.transaction_id };
    },
    async holds(ids) {
      const keys = ids.map(({ walletId, holdId }) => [walletId, holdId]);
      return (await runForRows<HoldRow>(HOLDS, keys)).map(holdOf);
    },
    async due(walletIds, nowMs, max) {
      if (walletIds.length === 0) return [];
      const [wallets = "{}"] = encodeColumns(walletIds.map((walletId) => [walletId]));
      return (await run<HoldRow>(DUE, [wallets, nowMs, max])).map(holdOf);
    },
    async limits(readSets) {
      const [bound, named] = await Promise.all([
        runForRows<LimitRow>(
          LIMITS_OF_KEYS,
          pairs(readSets, ({ keyIds }) => keyIds),
        ),
        runForRows<LimitRow>(
          LIMITS,
          pairs(readSets, ({ limitIds }) => limitIds),
        ),
      ]);
      return [...bound, ...named].map((row) => ({ walletId: row.wallet_id, limit: readSpendLimit(row) }));
    },
    async postings(readSets) {
      const keys = [...readSets].flatMap(([walletId, { postings }]) =>
        postings.map(({ kind, transferId }) => [walletId, transferId, kind]),
      );
      const rows = await runForRows<TransferRow & WalletOwned>(POSTINGS, keys);
      return rows.map((row) => ({ walletId: row.wallet_id, transfer: readTransfer(row) }));
    },
    async counters(keys) {
      const wanted = keys.map(({ walletId, limitId, periodStartMs }) => [walletId, limitId, periodStartMs]);
      return (await runForRows<CounterKeyRow>(COUNTERS, wanted)).map((row) => {
        const key = { limitId: row.limit_id, periodStartMs: Number(row.period_start_ms) };
        return { walletId: row.wallet_id, counter: readCounter(key, row) };
      });
    },
  };
}

interface WalletOwned {
  readonly wallet_id: string;
}
type LimitRow = SpendLimitRow & WalletOwned;
type CounterKeyRow = CounterRow &
  WalletOwned & { readonly limit_id: string; readonly period_start_ms: bigint };

function holdOf(row: HoldRow): OfWallet<"hold", Hold> {
  return { walletId: row.wallet_id, hold: readHold(row) };
}

function pairs(
  readSets: ReadonlyMap<string, ReadSet>,
  idsOf: (readSet: ReadSet) => Iterable<string>,
): readonly (readonly string[])[] {
  return [...readSets].flatMap(([walletId, each]) => Array.from(idsOf(each), (id) => [walletId, id]));
}

const TRANSACTION = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms,
  pg_current_xact_id()::text AS transaction_id`;

/** JSON columns as text, which the driver would parse. Small integers as bigint, as in SQLite. */
const HOLD_COLUMNS = `h.wallet_id, h.hold_id, h.key_id, h.state, h.late::integer::bigint AS late, h.requested,
  h.minimum, h.granted, h.accrued, h.actual, h.captured, h.refunded, h.ttl_ms, h.created_at_ms, h.expires_at_ms,
  h.resolved_at_ms, h.limits::text AS limits, h.surface, h.model, h.metadata::text AS metadata`;

const HOLDS = `SELECT ${HOLD_COLUMNS} FROM unnest($1::text[], $2::uuid[]) AS k (wallet_id, hold_id)
  JOIN holds h ON h.wallet_id = k.wallet_id AND h.hold_id = k.hold_id`;

const DUE = `SELECT ${HOLD_COLUMNS} FROM holds h
  WHERE h.state = 'held' AND h.expires_at_ms <= $2::bigint AND h.wallet_id = ANY($1::text[])
  ORDER BY h.expires_at_ms LIMIT $3::bigint`;

const LIMIT_COLUMNS = "l.wallet_id, l.limit_id, l.key_id, l.period, l.time_zone, l.amount, l.deleted_at_ms";

const LIMITS_OF_KEYS = `SELECT ${LIMIT_COLUMNS}
  FROM (SELECT DISTINCT wallet_id FROM unnest($1::text[]) AS w (wallet_id)) AS w
    JOIN spend_limits l ON l.wallet_id = w.wallet_id AND l.key_id IS NULL AND l.deleted_at_ms IS NULL
  UNION ALL SELECT ${LIMIT_COLUMNS} FROM unnest($1::text[], $2::text[]) AS k (wallet_id, key_id)
    JOIN spend_limits l ON l.wallet_id = k.wallet_id AND l.key_id = k.key_id AND l.deleted_at_ms IS NULL`;

const LIMITS = `SELECT ${LIMIT_COLUMNS} FROM unnest($1::text[], $2::text[]) AS k (wallet_id, limit_id)
  JOIN spend_limits l ON l.wallet_id = k.wallet_id AND l.limit_id = k.limit_id`;

const POSTINGS = `SELECT t.wallet_id, t.seq, t.transfer_id, t.kind::bigint, t.debit_account::bigint,
    t.credit_account::bigint, t.amount, t.posted_after, t.hold_id, t.created_at_ms
  FROM unnest($1::text[], $2::text[], $3::smallint[]) AS k (wallet_id, transfer_id, kind)
  JOIN transfers t ON t.wallet_id = k.wallet_id AND t.transfer_id = k.transfer_id AND t.kind = k.kind`;

const COUNTERS = `SELECT c.wallet_id, c.limit_id, c.period_start_ms, c.used, c.held
  FROM unnest($1::text[], $2::text[], $3::bigint[]) AS k (wallet_id, limit_id, period_start_ms)
  JOIN limit_counters c ON c.wallet_id = k.wallet_id AND c.limit_id = k.limit_id
    AND c.period_start_ms = k.period_start_ms`;
