import type { Database } from "bun:sqlite";
import {
  type Counter,
  counterKey,
  type Hold,
  type KeptLimit,
  type LimitPeriodKey,
  postingKey,
  type Transfer,
} from "../core/book.ts";
import { countersNeeded, type Needs, receiptsNamed } from "../core/read-set.ts";
import { createWorkingBook, type WorkingBook } from "../core/working-book.ts";
import {
  type HoldRow,
  readCounter,
  readHold,
  readSpendLimit,
  readTransfer,
  readWallet,
  type SpendLimitRow,
  type TransferRow,
} from "../queries/rows.ts";
import { prepareCounterRead, prepareRead, prepareWalletRead } from "./statements.ts";

/** Due holds that one transaction looks at; the sweeper gets to the rest. */
const DUE_MAX = 500;

const HOLD_COLUMNS = `wallet_id, hold_id, key_id, state, late, requested, minimum, granted, accrued, actual,
  captured, refunded, ttl_ms, created_at_ms, expires_at_ms, resolved_at_ms, limits, surface, model, metadata`;

/** Reads the books that a batch needs; to be called inside its transaction. */
export type LoadBooks = (
  needs: ReadonlyMap<string, Needs>,
  nowMs: number,
) => ReadonlyMap<string, WorkingBook>;

export function createLoader(client: Database): LoadBooks {
  const statements = prepare(client);

  const loadLimits = (walletId: string, needs: Needs) => {
    const limits = new Map<string, KeptLimit>();
    const keep = (row: SpendLimitRow) => limits.set(row.limit_id, readSpendLimit(row));
    for (const keyId of needs.keyIds) statements.limitsOfKey.all(walletId, keyId).forEach(keep);
    for (const limitId of needs.limitIds) statements.limit.all(walletId, limitId).forEach(keep);
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

  const loadPostings = (walletId: string, needs: Needs) => {
    const postings = new Map<string, Transfer>();
    for (const { kind, transferId } of needs.postings) {
      const row = statements.posting.get(walletId, transferId, kind);
      if (row) postings.set(postingKey(kind, transferId), readTransfer(row));
    }
    return postings;
  };

  const loadDue = (needs: ReadonlyMap<string, Needs>, nowMs: number) => {
    const takers = [...needs].flatMap(([walletId, { keyIds }]) => (keyIds.size > 0 ? [walletId] : []));
    return takers.length > 0 ? statements.due.all(nowMs, JSON.stringify(takers), DUE_MAX) : [];
  };

  return (needs, nowMs) => {
    const due = loadDue(needs, nowMs);
    const books = new Map<string, WorkingBook>();
    for (const [walletId, need] of needs) {
      const wallet = statements.wallet.get(walletId);
      const limits = loadLimits(walletId, need);
      const postings = loadPostings(walletId, need);
      const receipts = receiptsNamed(postings.values());
      const holds = loadHolds(walletId, receipts.length > 0 ? [...need.holdIds, ...receipts] : need.holdIds);
      const dueHolds = due.filter((row) => row.wallet_id === walletId).map(readHold);
      for (const hold of dueHolds) holds.set(hold.holdId, hold);
      const keys = countersNeeded([...limits.values(), ...need.limits], holds.values(), nowMs);
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
  const query = <Row, Parameters extends (string | number)[]>(sql: string) =>
    prepareRead<Row, Parameters>(client, sql);
  return {
    wallet: prepareWalletRead(client),
    hold: query<HoldRow, [string, string]>(
      `SELECT ${HOLD_COLUMNS} FROM holds WHERE wallet_id = ? AND hold_id = ?`,
    ),
    // By the index of open holds: by the wallets, it would walk through all they ever had.
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
    counter: prepareCounterRead(client),
    posting: query<TransferRow, [string, string, number]>(
      "SELECT * FROM transfers WHERE wallet_id = ? AND transfer_id = ? AND kind = ?",
    ),
  };
}
