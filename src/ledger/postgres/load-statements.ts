import type { Counter, Hold, KeptLimit, LimitPeriodKey, Transfer } from "../core/book.ts";
import type { Needs } from "../core/read-set.ts";
import type { Value } from "../queries/row-values.ts";
import {
  type CounterRow,
  type HoldRow,
  readCounter,
  readHold,
  readSpendLimit,
  readTransfer,
  type SpendLimitRow,
  type TransferRow,
} from "../queries/rows.ts";
import { printColumns } from "./array.ts";
import type { Connection } from "./session.ts";

type Of<Name extends string, Item> = { readonly walletId: string } & { readonly [name in Name]: Item };

/** The statements of a batch that read. Each asks nothing of the server when nothing is wanted. */
export interface BookReads {
  moment(): Promise<{ readonly nowMs: number; readonly transactionId: string }>;
  holds(ids: readonly { walletId: string; holdId: string }[]): Promise<readonly Of<"hold", Hold>[]>;
  /** Open holds whose time is up, the longest due first. */
  due(walletIds: readonly string[], nowMs: number, max: number): Promise<readonly Of<"hold", Hold>[]>;
  limits(needs: ReadonlyMap<string, Needs>): Promise<readonly Of<"limit", KeptLimit>[]>;
  postings(needs: ReadonlyMap<string, Needs>): Promise<readonly Of<"transfer", Transfer>[]>;
  counters(
    keys: readonly (LimitPeriodKey & { walletId: string })[],
  ): Promise<readonly Of<"counter", Counter>[]>;
}

/** Reads of one transaction; those that are asked for together travel together. */
export function createBookReads({ client }: Connection): BookReads {
  const ask = async <Row>(sql: string, values: Value[]): Promise<readonly Row[]> =>
    await client.unsafe(sql, values).execute();
  const askOf = async <Row>(sql: string, rows: readonly (readonly Value[])[]): Promise<readonly Row[]> =>
    rows.length === 0 ? [] : ask<Row>(sql, printColumns(rows));

  return {
    async moment() {
      const [row] = await ask<{ now_ms: bigint; transaction_id: string }>(MOMENT, []);
      if (!row) throw new Error("Cannot read the time of the database");
      return { nowMs: Number(row.now_ms), transactionId: row.transaction_id };
    },
    async holds(ids) {
      const keys = ids.map(({ walletId, holdId }) => [walletId, holdId]);
      return (await askOf<HoldRow>(HOLDS, keys)).map(holdOf);
    },
    async due(walletIds, nowMs, max) {
      if (walletIds.length === 0) return [];
      const [wallets = "{}"] = printColumns(walletIds.map((walletId) => [walletId]));
      return (await ask<HoldRow>(DUE, [wallets, nowMs, max])).map(holdOf);
    },
    async limits(needs) {
      const [bound, named] = await Promise.all([
        askOf<LimitRow>(
          LIMITS_OF_KEYS,
          pairs(needs, ({ keyIds }) => keyIds),
        ),
        askOf<LimitRow>(
          LIMITS,
          pairs(needs, ({ limitIds }) => limitIds),
        ),
      ]);
      return [...bound, ...named].map((row) => ({ walletId: row.wallet_id, limit: readSpendLimit(row) }));
    },
    async postings(needs) {
      const keys = [...needs].flatMap(([walletId, { postings }]) =>
        postings.map(({ kind, transferId }) => [walletId, transferId, kind]),
      );
      const rows = await askOf<TransferRow & Owned>(POSTINGS, keys);
      return rows.map((row) => ({ walletId: row.wallet_id, transfer: readTransfer(row) }));
    },
    async counters(keys) {
      const wanted = keys.map(({ walletId, limitId, periodStartMs }) => [walletId, limitId, periodStartMs]);
      return (await askOf<CounterKeyRow>(COUNTERS, wanted)).map((row) => {
        const key = { limitId: row.limit_id, periodStartMs: Number(row.period_start_ms) };
        return { walletId: row.wallet_id, counter: readCounter(key, row) };
      });
    },
  };
}

interface Owned {
  readonly wallet_id: string;
}
type LimitRow = SpendLimitRow & Owned;
type CounterKeyRow = CounterRow & Owned & { readonly limit_id: string; readonly period_start_ms: bigint };

function holdOf(row: HoldRow): Of<"hold", Hold> {
  return { walletId: row.wallet_id, hold: readHold(row) };
}

function pairs(
  needs: ReadonlyMap<string, Needs>,
  idsOf: (needs: Needs) => Iterable<string>,
): readonly (readonly string[])[] {
  return [...needs].flatMap(([walletId, each]) => Array.from(idsOf(each), (id) => [walletId, id]));
}

const MOMENT = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms,
  pg_current_xact_id()::text AS transaction_id`;

/** JSON as its text, which the driver would parse; small integers as large ones, as SQLite gives them. */
const HOLD_COLUMNS = `h.wallet_id, h.hold_id, h.key_id, h.state, h.late::integer::bigint AS late, h.requested,
  h.minimum, h.granted, h.accrued, h.actual, h.captured, h.refunded, h.ttl_ms, h.created_at_ms, h.expires_at_ms,
  h.resolved_at_ms, h.limits::text AS limits, h.surface, h.model, h.metadata::text AS metadata`;

const HOLDS = `SELECT ${HOLD_COLUMNS} FROM unnest($1::text[], $2::uuid[]) AS k (wallet_id, hold_id)
  JOIN holds h ON h.wallet_id = k.wallet_id AND h.hold_id = k.hold_id`;

const DUE = `SELECT ${HOLD_COLUMNS} FROM holds h
  WHERE h.state = 'held' AND h.expires_at_ms <= $2::bigint AND h.wallet_id = ANY($1::text[])
  ORDER BY h.expires_at_ms LIMIT $3::bigint`;

const LIMIT_COLUMNS = "l.wallet_id, l.limit_id, l.key_id, l.period, l.time_zone, l.amount, l.deleted_at_ms";

const LIMITS_OF_KEYS = `SELECT ${LIMIT_COLUMNS} FROM (SELECT DISTINCT wallet_id FROM unnest($1::text[]) AS w (wallet_id)) AS w
    JOIN spend_limits l ON l.wallet_id = w.wallet_id AND l.key_id IS NULL AND l.deleted_at_ms IS NULL
  UNION ALL SELECT ${LIMIT_COLUMNS} FROM unnest($1::text[], $2::text[]) AS k (wallet_id, key_id)
    JOIN spend_limits l ON l.wallet_id = k.wallet_id AND l.key_id = k.key_id AND l.deleted_at_ms IS NULL`;

const LIMITS = `SELECT ${LIMIT_COLUMNS} FROM unnest($1::text[], $2::text[]) AS k (wallet_id, limit_id)
  JOIN spend_limits l ON l.wallet_id = k.wallet_id AND l.limit_id = k.limit_id`;

const POSTINGS = `SELECT t.wallet_id, t.seq, t.transfer_id, t.kind::bigint, t.debit_account::bigint,
    t.credit_account::bigint, t.amount, t.posted_after, t.hold_id, t.created_at_ms
  FROM unnest($1::text[], $2::text[], $3::smallint[]) AS k (wallet_id, transfer_id, kind)
  JOIN transfers t ON t.wallet_id = k.wallet_id AND t.transfer_id = k.transfer_id AND t.kind = k.kind`;

const COUNTERS = `SELECT c.wallet_id, c.limit_id, c.period_start_ms, c.used, c.held FROM unnest($1::text[], $2::text[], $3::bigint[]) AS k (wallet_id, limit_id, period_start_ms)
  JOIN limit_counters c ON c.wallet_id = k.wallet_id AND c.limit_id = k.limit_id
    AND c.period_start_ms = k.period_start_ms`;
