import type { Database } from "bun:sqlite";
import {
  type Counter,
  counterKey,
  type Hold,
  type LimitPeriodKey,
  postingKey,
  type StoredLimit,
  type Transfer,
} from "../core/book.ts";
import { countersOf, DUE_HOLDS_MAX, type ReadSet, receiptsOf } from "../core/read-set.ts";
import { createWorkingBook, type WorkingBook } from "../core/working-book.ts";
import {
  type CounterRow,
  type HoldRow,
  readCounter,
  readHold,
  readSpendLimit,
  readTransfer,
  readWallet,
  type SpendLimitRow,
  type TransferRow,
  type WalletRow,
} from "../queries/rows.ts";

const HOLD_COLUMNS = `wallet_id, hold_id, key_id, state, late, requested, minimum, granted, accrued, actual,
  captured, refunded, ttl_ms, created_at_ms, expires_at_ms, resolved_at_ms, limits, surface, model, metadata`;

/** Reads the books of a batch. Must be called inside its transaction. */
export type LoadBooks = (
  readSets: ReadonlyMap<string, ReadSet>,
  nowMs: number,
) => ReadonlyMap<string, WorkingBook>;

export function createLoader(client: Database): LoadBooks {
  const statements = prepare(client);

  const loadLimits = (walletId: string, readSet: ReadSet) => {
    const limits = new Map<string, StoredLimit>();
    const keep = (row: SpendLimitRow) => limits.set(row.limit_id, readSpendLimit(row));
    for (const keyId of readSet.keyIds) statements.limitsOfKey.all(walletId, keyId).forEach(keep);
    for (const limitId of readSet.limitIds) statements.limit.all(walletId, limitId).forEach(keep);
    return limits;
  };

  const loadHolds = (walletId: string, holdIds: Iterable<string>) => {
    const holds = new Map<string, Hold>();
    for (const holdId of holdIds) {
      const row = statements.hold.get(walletId, holdId);
      if (row) holds.set(holdId, readHold(row));
    }
    return holds;
  };

  const loadCounters = (walletId: string, keys: readonly LimitPeriodKey[]) => {
    const counters = new Map<string, Counter>();
    for (const key of keys) {
      if (counters.has(counterKey(key))) continue;
      const row = statements.counter.get(walletId, key.limitId, key.periodStartMs);
      counters.set(counterKey(key), readCounter(key, row));
    }
    return counters;
  };

  const loadPostings = (walletId: string, readSet: ReadSet) => {
    const postings = new Map<string, Transfer>();
    for (const { kind, transferId } of readSet.postings) {
      const row = statements.posting.get(walletId, transferId, kind);
      if (row) postings.set(postingKey(kind, transferId), readTransfer(row));
    }
    return postings;
  };

  const loadDue = (readSets: ReadonlyMap<string, ReadSet>, nowMs: number) => {
    const spenders = [...readSets].flatMap(([walletId, { keyIds }]) => (keyIds.size > 0 ? [walletId] : []));
    return spenders.length > 0 ? statements.due.all(nowMs, JSON.stringify(spenders), DUE_HOLDS_MAX) : [];
  };

  return (readSets, nowMs) => {
    const due = loadDue(readSets, nowMs);
    const books = new Map<string, WorkingBook>();
    for (const [walletId, readSet] of readSets) {
      const wallet = statements.wallet.get(walletId);
      const limits = loadLimits(walletId, readSet);
      const postings = loadPostings(walletId, readSet);
      const receipts = receiptsOf(postings.values());
      const holdIds = receipts.length > 0 ? [...readSet.holdIds, ...receipts] : readSet.holdIds;
      const holds = loadHolds(walletId, holdIds);
      const dueHolds = due.filter((row) => row.wallet_id === walletId).map(readHold);
      for (const hold of dueHolds) holds.set(hold.holdId, hold);
      const keys = countersOf([...limits.values(), ...readSet.limits], holds.values(), nowMs);
      const loaded = {
        wallet: wallet ? readWallet(wallet) : undefined,
        holds,
        limits,
        counters: loadCounters(walletId, keys),
        postings,
        dueHoldIds: dueHolds.map(({ holdId }) => holdId),
      };
      books.set(walletId, createWorkingBook(loaded));
    }
    return books;
  };
}

function prepare(client: Database) {
  /** Integers are read as bigint, as the row types require. */
  const query = <Row, Parameters extends (string | number)[]>(sql: string) =>
    client.query<Row, Parameters>(sql).safeIntegers(true);
  return {
    wallet: query<WalletRow, [string]>("SELECT * FROM wallets WHERE wallet_id = ?"),
    hold: query<HoldRow, [string, string]>(
      `SELECT ${HOLD_COLUMNS} FROM holds WHERE wallet_id = ? AND hold_id = ?`,
    ),
    // Uses the index of open holds: by wallet, SQLite would scan every hold that the wallets ever had.
    due: query<HoldRow, [number, string, number]>(
      `SELECT ${HOLD_COLUMNS} FROM holds INDEXED BY holds_open
        WHERE state = 'held' AND expires_at_ms <= ? AND wallet_id IN (SELECT value FROM json_each(?))
        ORDER BY expires_at_ms LIMIT ?`,
    ),
    limitsOfKey: query<SpendLimitRow, [string, string]>(
      `SELECT * FROM spend_limits
        WHERE wallet_id = ? AND (key_id IS NULL OR key_id = ?) AND deleted_at_ms IS NULL`,
    ),
    limit: query<SpendLimitRow, [string, string]>(
      "SELECT * FROM spend_limits WHERE wallet_id = ? AND limit_id = ?",
    ),
    counter: query<CounterRow, [string, string, number]>(
      "SELECT used, held FROM limit_counters WHERE wallet_id = ? AND limit_id = ? AND period_start_ms = ?",
    ),
    posting: query<TransferRow, [string, string, number]>(
      "SELECT * FROM transfers WHERE wallet_id = ? AND transfer_id = ? AND kind = ?",
    ),
  };
}
