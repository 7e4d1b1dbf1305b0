import type { Counter, CounterKey, Hold, PeriodSpend, StoredLimit, Transfer } from "../core/book.ts";
import type { ReadSet } from "../core/read-set.ts";
import { bindingsOf } from "../core/spender.ts";
import { readPeriodSpend } from "../queries/period-spend.ts";
import { POSTGRES, type Row } from "../queries/query.ts";
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
import type { SpendLimit } from "../records.ts";
import { encodeArray, encodeColumns } from "./run-query.ts";
import type { Connection } from "./session.ts";
import type { WriteFence } from "./write.ts";

/** An item with the wallet it belongs to. */
type OfWallet<Name extends string, Item> = { readonly walletId: string } & {
  readonly [name in Name]: Item;
};

/** What a batch reads of its transaction, and the holds that its commands name. */
interface OpeningRead {
  /** The database's clock, read after the lock. */
  readonly nowMs: number;
  readonly transactionId: string;
  readonly fence: WriteFence;
  readonly holds: readonly OfWallet<"hold", Hold>[];
}

/** A limit with one of its counters: of its newest period, `undefined` when it was never used. */
type BoundLimit = OfWallet<"limit", StoredLimit> & {
  /** `undefined` for a template of which nothing that spends has a scope. */
  readonly counterId: string | undefined;
  readonly newest: Counter | undefined;
};

/** A limit to be set, with what its current period has seen. */
interface LimitSpend {
  readonly limit: SpendLimit;
  readonly spend: PeriodSpend;
}

/** The reading statements of a batch. A read without ids sends nothing to the server, except `opening`. */
export interface LoadStatements {
  opening(ids: readonly { walletId: string; holdId: string }[]): Promise<OpeningRead>;
  holds(ids: readonly { walletId: string; holdId: string }[]): Promise<readonly OfWallet<"hold", Hold>[]>;
  /** All open holds that limits to be set bind, and others of their wallets. */
  openHolds(limits: readonly SpendLimit[]): Promise<readonly OfWallet<"hold", Hold>[]>;
  /** What the periods of limits to be set have seen. */
  spends(limits: readonly SpendLimit[], nowMs: number): Promise<readonly LimitSpend[]>;
  /** Open holds past their time, longest overdue first. */
  due(walletIds: readonly string[], nowMs: number, max: number): Promise<readonly OfWallet<"hold", Hold>[]>;
  /** The limits in force that bind what spends, a template once for each of its scopes. */
  boundLimits(readSets: ReadonlyMap<string, ReadSet>): Promise<readonly BoundLimit[]>;
  /** The limits that commands set or delete, deleted ones included. */
  namedLimits(readSets: ReadonlyMap<string, ReadSet>): Promise<readonly OfWallet<"limit", StoredLimit>[]>;
  /** The kinds of scopes that limits in force of wallets bind, where holds of a wallet have scopes. */
  kinds(readSets: ReadonlyMap<string, ReadSet>): Promise<ReadonlyMap<string, ReadonlySet<string>>>;
  /** The newest counters that began until a time, of windows. */
  windows(ids: readonly CounterOfWallet[], untilMs: number): Promise<readonly OfWallet<"counter", Counter>[]>;
  postings(readSets: ReadonlyMap<string, ReadSet>): Promise<readonly OfWallet<"transfer", Transfer>[]>;
  counters(
    keys: readonly (CounterKey & { walletId: string })[],
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
    async opening(ids) {
      const rows = await run<OpeningRow>(OPENING, keyColumnsOf(ids));
      const [first] = rows;
      if (!first) throw new Error("Cannot read the time of the database");
      const holds = rows.flatMap((row) => (isHoldRow(row) ? [holdOf(row)] : []));
      const { transaction_id: transactionId, fence_ms, records_ends } = first;
      const fence = { fenceMs: Number(fence_ms), recordsEnds: records_ends !== 0n };
      return { nowMs: Number(first.now_ms), transactionId, fence, holds };
    },
    async holds(ids) {
      if (ids.length === 0) return [];
      return (await run<HoldRow>(HOLDS, keyColumnsOf(ids))).map(holdOf);
    },
    async openHolds(limits) {
      const found: OfWallet<"hold", Hold>[] = [];
      for (const { walletId, keyId = null } of limits) {
        found.push(...(await run<HoldRow>(OPEN_HOLDS, [walletId, keyId])).map(holdOf));
      }
      return found;
    },
    async spends(limits, nowMs) {
      const found: LimitSpend[] = [];
      for (const limit of limits) {
        const read = readPeriodSpend(POSTGRES, limit, nowMs);
        let step = read.next();
        while (!step.done) step = read.next(await run<Row>(step.value.sql, [...step.value.values]));
        found.push({ limit, spend: step.value });
      }
      return found;
    },
    async due(walletIds, nowMs, max) {
      if (walletIds.length === 0) return [];
      return (await run<HoldRow>(DUE, [encodeArray(walletIds), nowMs, max])).map(holdOf);
    },
    async boundLimits(readSets) {
      const bindings = pairs(readSets, bindingsIn);
      if (bindings.length === 0) return [];
      const subjects = [...readSets].flatMap(([walletId, each]) => subjectRowsOf(walletId, each));
      const values = [
        ...encodeColumns(bindings),
        ...encodeColumns(subjects.length > 0 ? subjects : NO_SUBJECTS),
      ];
      return (await run<BoundLimitRow>(BOUND_LIMITS, values)).map((row) => {
        const limit = readSpendLimit(row);
        const counterId = row.counter_id ?? undefined;
        return { walletId: row.wallet_id, limit, counterId, newest: newestCounterOf(row) };
      });
    },
    async kinds(readSets) {
      const walletIds = [...readSets].flatMap(([walletId, { spenders }]) =>
        spenders.some(({ scopes = [] }) => scopes.length > 0) ? [walletId] : [],
      );
      const kinds = new Map(walletIds.map((walletId) => [walletId, new Set<string>()]));
      if (walletIds.length === 0) return kinds;
      const rows = await run<WalletOwned & { readonly kind: string }>(KINDS, [encodeArray(walletIds)]);
      for (const { wallet_id, kind } of rows) kinds.get(wallet_id)?.add(kind);
      return kinds;
    },
    async windows(ids, untilMs) {
      if (ids.length === 0) return [];
      const columns = encodeColumns(ids.map(({ walletId, counterId }) => [walletId, counterId]));
      return (await run<CounterKeyRow>(WINDOWS, [...columns, untilMs])).map(counterOfWallet);
    },
    async namedLimits(readSets) {
      const ids = pairs(readSets, ({ limitIds }) => limitIds);
      const rows = await runForRows<LimitRow>(LIMITS, ids);
      return rows.map((row) => ({ walletId: row.wallet_id, limit: readSpendLimit(row) }));
    },
    async postings(readSets) {
      const keys = [...readSets].flatMap(([walletId, { postings }]) =>
        postings.map(({ kind, transferId }) => [walletId, transferId, kind]),
      );
      const rows = await runForRows<TransferRow & WalletOwned>(POSTINGS, keys);
      return rows.map((row) => ({ walletId: row.wallet_id, transfer: readTransfer(row) }));
    },
    async counters(keys) {
      const wanted = keys.map(({ walletId, counterId, periodStartMs }) => [
        walletId,
        counterId,
        periodStartMs,
      ]);
      return (await runForRows<CounterKeyRow>(COUNTERS, wanted)).map(counterOfWallet);
    },
  };
}

interface WalletOwned {
  readonly wallet_id: string;
}
type LimitRow = SpendLimitRow & WalletOwned;
type BoundLimitRow = LimitRow & {
  readonly counter_id: string | null;
  readonly period_start_ms: bigint | null;
  readonly used: bigint | null;
  readonly held: bigint | null;
};
/** A hold, or nulls when no hold was found: the clock and the transaction are always returned. */
type OpeningRow = (HoldRow | { readonly hold_id: null }) & {
  readonly now_ms: bigint;
  readonly transaction_id: string;
  readonly fence_ms: bigint;
  readonly records_ends: bigint;
};
type CounterKeyRow = CounterRow &
  WalletOwned & { readonly limit_id: string; readonly period_start_ms: bigint };

function isHoldRow(row: OpeningRow): row is OpeningRow & HoldRow {
  return row.hold_id !== null;
}

function newestCounterOf({ counter_id, period_start_ms, used, held }: BoundLimitRow): Counter | undefined {
  if (counter_id === null || period_start_ms === null || used === null || held === null) return undefined;
  return readCounter({ counterId: counter_id, periodStartMs: Number(period_start_ms) }, { used, held });
}

function counterOfWallet(row: CounterKeyRow): OfWallet<"counter", Counter> {
  const key = { counterId: row.limit_id, periodStartMs: Number(row.period_start_ms) };
  return { walletId: row.wallet_id, counter: readCounter(key, row) };
}

/** A counter of a wallet, in any of its periods. */
interface CounterOfWallet {
  readonly walletId: string;
  readonly counterId: string;
}

/** The bindings of everything that spends. */
export function bindingsIn({ spenders }: ReadSet): ReadonlySet<string> {
  return new Set(spenders.flatMap(bindingsOf));
}

/** What templates may count: the kinds and ids of scopes, and keys. */
function subjectRowsOf(walletId: string, { spenders }: ReadSet): readonly (readonly Value[])[] {
  return spenders.flatMap(({ keyId, scopes = [] }) => [
    [walletId, "key", keyId],
    ...scopes.map(({ kind, id }) => [walletId, kind, id]),
  ]);
}

const NO_SUBJECTS = [[null, null, null]];

function keyColumnsOf(ids: readonly { walletId: string; holdId: string }[]): Value[] {
  return [encodeArray(ids.map(({ walletId }) => walletId)), encodeArray(ids.map(({ holdId }) => holdId))];
}

function holdOf(row: HoldRow): OfWallet<"hold", Hold> {
  return { walletId: row.wallet_id, hold: readHold(row) };
}

function pairs(
  readSets: ReadonlyMap<string, ReadSet>,
  idsOf: (readSet: ReadSet) => Iterable<string>,
): readonly (readonly string[])[] {
  return [...readSets].flatMap(([walletId, each]) => Array.from(idsOf(each), (id) => [walletId, id]));
}

/** JSON columns as text, which the driver would parse. Small integers as bigint, as in SQLite. */
const HOLD_COLUMNS = `h.wallet_id, h.hold_id, h.key_id, h.state, h.late::integer::bigint AS late, h.requested,
  h.minimum, h.granted, h.accrued, h.actual, h.captured, h.refunded, h.ttl_ms, h.created_at_ms, h.expires_at_ms,
  h.resolved_at_ms, h.limits::text AS limits, h.surface, h.model, h.metadata::text AS metadata,
  h.scopes::text AS scopes`;

const FOUND_HOLDS = `unnest($1::text[], $2::uuid[]) AS k (wallet_id, hold_id)
  JOIN holds h ON h.wallet_id = k.wallet_id AND h.hold_id = k.hold_id`;

/** Needs parameters: the driver sends a statement without parameters as text, in a round trip of its own. */
const OPENING = `SELECT t.now_ms, t.transaction_id, t.fence_ms, t.records_ends, ${HOLD_COLUMNS}
  FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms,
      pg_current_xact_id()::text AS transaction_id, fence_ms, records_ends FROM usage_fence) AS t
    LEFT JOIN (${FOUND_HOLDS}) ON true`;

const HOLDS = `SELECT ${HOLD_COLUMNS} FROM ${FOUND_HOLDS}`;

const DUE = `SELECT ${HOLD_COLUMNS} FROM holds h
  WHERE h.state = 'held' AND h.expires_at_ms <= $2::bigint AND h.wallet_id = ANY($1::text[])
  ORDER BY h.expires_at_ms LIMIT $3::bigint`;

const OPEN_HOLDS = `SELECT ${HOLD_COLUMNS} FROM holds h
  WHERE h.state = 'held' AND h.wallet_id = $1::text
    AND (h.key_id = coalesce($2::text, h.key_id) OR h.scopes IS NOT NULL)`;

const LIMIT_COLUMNS =
  "l.wallet_id, l.limit_id, l.key_id, l.each_kind, l.period, l.time_zone, l.amount, l.deleted_at_ms";

/** The counters of a limit are those of its id; of a template, with each id that is given of its kind. */
const BOUND_LIMITS = `SELECT ${LIMIT_COLUMNS}, s.counter_id, c.period_start_ms, c.used, c.held
  FROM (SELECT l.* FROM (SELECT DISTINCT wallet_id FROM unnest($1::text[]) AS w (wallet_id)) AS w
      JOIN spend_limits l ON l.wallet_id = w.wallet_id AND l.key_id IS NULL AND l.deleted_at_ms IS NULL
    UNION ALL SELECT l.* FROM unnest($1::text[], $2::text[]) AS k (wallet_id, binding)
      JOIN spend_limits l ON l.wallet_id = k.wallet_id AND l.key_id = k.binding AND l.deleted_at_ms IS NULL) AS l
  LEFT JOIN LATERAL (SELECT l.limit_id AS counter_id WHERE l.each_kind IS NULL
    UNION SELECT l.limit_id || E'\\n' || s.id FROM unnest($3::text[], $4::text[], $5::text[]) AS s (wallet_id, kind, id)
      WHERE s.wallet_id = l.wallet_id AND s.kind = l.each_kind) AS s ON true
  LEFT JOIN LATERAL (SELECT period_start_ms, used, held FROM limit_counters AS c
    WHERE c.wallet_id = l.wallet_id AND c.limit_id = s.counter_id
    ORDER BY period_start_ms DESC LIMIT 1) AS c ON true`;

const KINDS = `SELECT DISTINCT wallet_id, split_part(key_id, E'\\n', 1) AS kind FROM spend_limits
  WHERE wallet_id = ANY($1::text[]) AND strpos(key_id, E'\\n') > 0 AND deleted_at_ms IS NULL`;

const WINDOWS = `SELECT k.wallet_id, k.counter_id AS limit_id, c.period_start_ms, c.used, c.held
  FROM unnest($1::text[], $2::text[]) AS k (wallet_id, counter_id)
  JOIN LATERAL (SELECT period_start_ms, used, held FROM limit_counters AS c
    WHERE c.wallet_id = k.wallet_id AND c.limit_id = k.counter_id AND c.period_start_ms <= $3::bigint
    ORDER BY period_start_ms DESC LIMIT 1) AS c ON true`;

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
