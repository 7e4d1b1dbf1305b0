import type { Hold, PeriodSpend, Transfer } from "../core/book.ts";
import type { SetLimitCommand } from "../core/command.ts";
import type { ReadSet } from "../core/read-set.ts";
import { readPeriodSpend } from "../queries/period-spend.ts";
import { POSTGRES, type Row } from "../queries/query.ts";
import { type HoldRow, readHold, readTransfer, type TransferRow, type Value } from "../queries/rows.ts";
import type { SpendLimit } from "../records.ts";
import { createBatchReads, encodeArray } from "./run-query.ts";
import type { Connection } from "./session.ts";
import type { WriteFence } from "./write.ts";

/** An item with the wallet it belongs to. */
export type OfWallet<Name extends string, Item> = { readonly walletId: string } & {
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
  spends(limits: readonly SetLimitCommand[], nowMs: number): Promise<readonly LimitSpend[]>;
  /** Open holds past their time, longest overdue first. */
  due(walletIds: readonly string[], nowMs: number, max: number): Promise<readonly OfWallet<"hold", Hold>[]>;
  postings(readSets: ReadonlyMap<string, ReadSet>): Promise<readonly OfWallet<"transfer", Transfer>[]>;
}

/** Creates the statements of one transaction. Those run at once are pipelined in one round trip. */
export function createLoadStatements({ client }: Connection): LoadStatements {
  const { run, runForRows } = createBatchReads(client);
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
    async postings(readSets) {
      const keys = [...readSets].flatMap(([walletId, { postings }]) =>
        postings.map(({ kind, transferId }) => [walletId, transferId, kind]),
      );
      const rows = await runForRows<TransferRow & WalletOwned>(POSTINGS, keys);
      return rows.map((row) => ({ walletId: row.wallet_id, transfer: readTransfer(row) }));
    },
  };
}

export interface WalletOwned {
  readonly wallet_id: string;
}
/** A hold, or nulls when no hold was found: the clock and the transaction are always returned. */
type OpeningRow = (HoldRow | { readonly hold_id: null }) & {
  readonly now_ms: bigint;
  readonly transaction_id: string;
  readonly fence_ms: bigint;
  readonly records_ends: bigint;
};
function isHoldRow(row: OpeningRow): row is OpeningRow & HoldRow {
  return row.hold_id !== null;
}

function keyColumnsOf(ids: readonly { walletId: string; holdId: string }[]): Value[] {
  return [encodeArray(ids.map(({ walletId }) => walletId)), encodeArray(ids.map(({ holdId }) => holdId))];
}

function holdOf(row: HoldRow): OfWallet<"hold", Hold> {
  return { walletId: row.wallet_id, hold: readHold(row) };
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

export const TRANSFER_COLUMNS = `t.wallet_id, t.seq, t.transfer_id, t.kind::bigint, t.debit_account::bigint,
  t.credit_account::bigint, t.amount, t.posted_after, t.hold_id, t.created_at_ms, t.credits::text AS credits`;

const POSTINGS = `SELECT ${TRANSFER_COLUMNS}
  FROM unnest($1::text[], $2::text[], $3::smallint[]) AS k (wallet_id, transfer_id, kind)
  JOIN transfers t ON t.wallet_id = k.wallet_id AND t.transfer_id = k.transfer_id AND t.kind = k.kind`;
