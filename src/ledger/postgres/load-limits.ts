import type { Counter, CounterKey, StoredLimit } from "../core/book.ts";
import type { ReadSet } from "../core/read-set.ts";
import { bindingsOf } from "../core/spender.ts";
import { NO_WINDOWS } from "../core/window.ts";
import type { LoadedBook } from "../core/working-book.ts";
import {
  type CounterRow,
  readCounter,
  readSpendLimit,
  type SpendLimitRow,
  type Value,
} from "../queries/rows.ts";
import type { OfWallet, WalletOwned } from "./load-statements.ts";
import { createBatchReads, encodeArray, encodeColumns } from "./run-query.ts";
import type { Connection } from "./session.ts";

/** A limit with one of its counters: of its newest period, `undefined` when it was never used. */
type BoundLimit = OfWallet<"limit", StoredLimit> & {
  /** `undefined` for a template of which nothing that spends has a scope. */
  readonly counterId: string | undefined;
  readonly newest: Counter | undefined;
};

type ReadSets = ReadonlyMap<string, ReadSet>;

/** The statements of a batch that read limits and their counters. A read without ids sends nothing to the server. */
export interface LimitStatements {
  /** The limits in force that bind what spends, a template once for each of its scopes. */
  boundLimits(readSets: ReadSets): Promise<readonly BoundLimit[]>;
  /** The limits that commands set or delete, deleted ones included. */
  namedLimits(readSets: ReadSets): Promise<readonly OfWallet<"limit", StoredLimit>[]>;
  /** The kinds of scopes that limits in force of wallets bind, where holds of a wallet have scopes. */
  kinds(readSets: ReadSets): Promise<ReadonlyMap<string, ReadonlySet<string>>>;
  /** The counters of windows around a time: of each id the latest that has begun, and the earliest that has not. */
  windows(ids: readonly CounterOfWallet[], atMs: number): Promise<readonly OfWallet<"counter", Counter>[]>;
  counters(
    keys: readonly (CounterKey & { walletId: string })[],
  ): Promise<readonly OfWallet<"counter", Counter>[]>;
}

/** Creates the statements of one transaction. Those run at once are pipelined in one round trip. */
export function createLimitStatements({ client }: Connection): LimitStatements {
  const { run, runForRows } = createBatchReads(client);
  return {
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
    async windows(ids, atMs) {
      if (ids.length === 0) return [];
      const columns = encodeColumns(ids.map(({ walletId, counterId }) => [walletId, counterId]));
      return (await run<CounterKeyRow>(WINDOWS, [...columns, atMs])).map(counterOfWallet);
    },
    async namedLimits(readSets) {
      const ids = pairs(readSets, ({ limitIds }) => limitIds);
      const rows = await runForRows<LimitRow>(LIMITS, ids);
      return rows.map((row) => ({ walletId: row.wallet_id, limit: readSpendLimit(row) }));
    },
    async counters(keys) {
      const wanted = keys.map((key) => [key.walletId, key.counterId, key.periodStartMs]);
      return (await runForRows<CounterKeyRow>(COUNTERS, wanted)).map(counterOfWallet);
    },
  };
}

type LimitRow = SpendLimitRow & WalletOwned;
type BoundLimitRow = LimitRow & {
  readonly counter_id: string | null;
  readonly period_start_ms: bigint | null;
  readonly used: bigint | null;
  readonly held: bigint | null;
};
type CounterKeyRow = CounterRow &
  WalletOwned & { readonly limit_id: string; readonly period_start_ms: bigint };

function newestCounterOf({ counter_id, period_start_ms, used, held }: BoundLimitRow): Counter | undefined {
  if (counter_id === null || period_start_ms === null || used === null || held === null) return undefined;
  return readCounter({ counterId: counter_id, periodStartMs: Number(period_start_ms) }, { used, held });
}

function counterOfWallet(row: CounterKeyRow): OfWallet<"counter", Counter> {
  const key = { counterId: row.limit_id, periodStartMs: Number(row.period_start_ms) };
  return { walletId: row.wallet_id, counter: readCounter(key, row) };
}

/** Adds the counters of windows around a time to their books, with when they begin. */
export function addWindows(
  books: ReadonlyMap<string, Pick<LoadedBook, "windowStarts" | "counters">>,
  windows: readonly OfWallet<"counter", Counter>[],
  nowMs: number,
): void {
  for (const { walletId, counter } of windows) {
    const { windowStarts, counters } = books.get(walletId) ?? {};
    const { counterId, periodStartMs } = counter;
    const { latestMs, nextMs } = windowStarts?.get(counterId) ?? NO_WINDOWS;
    const starts =
      periodStartMs <= nowMs ? { latestMs: periodStartMs, nextMs } : { latestMs, nextMs: periodStartMs };
    windowStarts?.set(counterId, starts);
    counters?.set(counter);
  }
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

function pairs(
  readSets: ReadonlyMap<string, ReadSet>,
  idsOf: (readSet: ReadSet) => Iterable<string>,
): readonly (readonly string[])[] {
  return [...readSets].flatMap(([walletId, each]) => Array.from(idsOf(each), (id) => [walletId, id]));
}

/** The periods of the calendar begin with a letter. */
const IS_WINDOW = "l.period < 'A'";

const LIMIT_COLUMNS =
  "l.wallet_id, l.limit_id, l.key_id, l.each_kind, l.period, l.time_zone, l.amount, l.deleted_at_ms";

/** The counters of a limit, of a template with each id that is given of its kind: see core/spender.ts. */
const BOUND_LIMITS = `SELECT ${LIMIT_COLUMNS}, s.counter_id, c.period_start_ms, c.used, c.held
  FROM (SELECT l.* FROM (SELECT DISTINCT wallet_id FROM unnest($1::text[]) AS w (wallet_id)) AS w
      JOIN spend_limits l ON l.wallet_id = w.wallet_id AND l.key_id IS NULL AND l.deleted_at_ms IS NULL
    UNION ALL SELECT l.* FROM unnest($1::text[], $2::text[]) AS k (wallet_id, binding)
      JOIN spend_limits l ON l.wallet_id = k.wallet_id AND l.key_id = k.binding AND l.deleted_at_ms IS NULL) AS l
  LEFT JOIN LATERAL (
    SELECT l.limit_id || CASE WHEN ${IS_WINDOW} THEN E'\\n\\n' ELSE '' END AS counter_id WHERE l.each_kind IS NULL
    UNION SELECT l.limit_id || E'\\n' || s.id || CASE WHEN ${IS_WINDOW} THEN E'\\n' ELSE '' END
      FROM unnest($3::text[], $4::text[], $5::text[]) AS s (wallet_id, kind, id)
      WHERE s.wallet_id = l.wallet_id AND s.kind = l.each_kind) AS s ON true
  LEFT JOIN LATERAL (SELECT period_start_ms, used, held FROM limit_counters AS c
    WHERE c.wallet_id = l.wallet_id AND c.limit_id = s.counter_id
    ORDER BY period_start_ms DESC LIMIT 1) AS c ON true`;

const KINDS = `SELECT DISTINCT wallet_id, split_part(key_id, E'\\n', 1) AS kind FROM spend_limits
  WHERE wallet_id = ANY($1::text[]) AND strpos(key_id, E'\\n') > 0 AND deleted_at_ms IS NULL`;

const WINDOWS = `SELECT k.wallet_id, k.counter_id AS limit_id, c.period_start_ms, c.used, c.held
  FROM unnest($1::text[], $2::text[]) AS k (wallet_id, counter_id)
  JOIN LATERAL ((SELECT period_start_ms, used, held FROM limit_counters AS c
    WHERE c.wallet_id = k.wallet_id AND c.limit_id = k.counter_id AND c.period_start_ms <= $3::bigint
    ORDER BY period_start_ms DESC LIMIT 1)
    UNION ALL (SELECT period_start_ms, used, held FROM limit_counters AS c
    WHERE c.wallet_id = k.wallet_id AND c.limit_id = k.counter_id AND c.period_start_ms > $3::bigint
    ORDER BY period_start_ms LIMIT 1)) AS c ON true`;

const LIMITS = `SELECT ${LIMIT_COLUMNS} FROM unnest($1::text[], $2::text[]) AS k (wallet_id, limit_id)
  JOIN spend_limits l ON l.wallet_id = k.wallet_id AND l.limit_id = k.limit_id`;

const COUNTERS = `SELECT c.wallet_id, c.limit_id, c.period_start_ms, c.used, c.held
  FROM unnest($1::text[], $2::text[], $3::bigint[]) AS k (wallet_id, limit_id, period_start_ms)
  JOIN limit_counters c ON c.wallet_id = k.wallet_id AND c.limit_id = k.limit_id
    AND c.period_start_ms = k.period_start_ms`;
