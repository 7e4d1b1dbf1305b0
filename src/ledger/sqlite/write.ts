import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { Wallet } from "../core/book.ts";
import type { WorkingBook, WriteSet } from "../core/working-book.ts";
import {
  limitValues,
  requestValues,
  resolutionValues,
  stateValues,
  transferValues,
} from "../queries/rows.ts";

/** Writes the changes of a batch. Must be called inside its transaction. */
export type WriteBooks = (books: ReadonlyMap<string, WorkingBook>) => void;

export function createWriter(client: Database): WriteBooks {
  const statements = prepare(client);

  const writeHolds = (walletId: string, writeSet: WriteSet) => {
    const { newHolds, changedHolds, resolutions } = writeSet;
    for (const hold of newHolds.values()) {
      statements.insertHold.run(walletId, hold.holdId, ...requestValues(hold), ...stateValues(hold));
    }
    for (const hold of changedHolds.values()) {
      if (!resolutions.has(hold.holdId))
        statements.updateHold.run(...stateValues(hold), walletId, hold.holdId);
    }
    for (const [holdId, resolution] of resolutions) {
      const hold = newHolds.get(holdId) ?? changedHolds.get(holdId);
      if (!hold) continue;
      statements.resolveHold.run(...stateValues(hold), ...resolutionValues(resolution), walletId, holdId);
    }
  };

  const writeWallet = ({ createsWallet, wallet }: WriteSet) => {
    if (!wallet) return;
    if (createsWallet) {
      const { walletId, creditLimit, createdAtMs } = wallet;
      statements.insertWallet.run(walletId, creditLimit, createdAtMs);
    }
    statements.updateWallet.run(...walletValues(wallet));
  };

  return (books) => {
    for (const [walletId, { writeSet }] of books) {
      writeWallet(writeSet);
      writeHolds(walletId, writeSet);
      for (const transfer of writeSet.transfers) {
        statements.insertTransfer.run(...transferValues(walletId, transfer));
      }
      for (const { limitId, periodStartMs, used, held } of writeSet.counters.values()) {
        statements.upsertCounter.run(walletId, limitId, periodStartMs, used, held);
      }
      for (const limit of writeSet.limits.values()) statements.upsertLimit.run(...limitValues(limit));
    }
  };
}

function walletValues({ posted, held, state, lastSeq, walletId }: Wallet): SQLQueryBindings[] {
  return [posted, held, state, lastSeq, walletId];
}

const STATE = `state = ?, late = ?, accrued = ?, actual = ?, captured = ?, refunded = ?, expires_at_ms = ?,
  resolved_at_ms = ?`;
const RESOLUTION = `outcome = ?, source = ?, upstream = ?, upstream_model = ?, price_input = ?, price_output = ?,
  price_cached_input = ?, price_cache_write = ?, price_cache_write_1h = ?, input_tokens = ?,
  cached_input_tokens = ?, cache_write_tokens = ?, cache_write_1h_tokens = ?, output_tokens = ?,
  first_output_ms = ?, total_ms = ?, attempts = ?, settle_metadata = ?`;

function prepare(client: Database) {
  const query = (sql: string) => client.query<unknown, SQLQueryBindings[]>(sql);
  return {
    insertWallet:
      query(`INSERT INTO wallets (wallet_id, credit_limit, created_at_ms, posted, held, state, last_seq)
      VALUES (?, ?, ?, 0, 0, 'active', 0)`),
    updateWallet: query(
      "UPDATE wallets SET posted = ?, held = ?, state = ?, last_seq = ? WHERE wallet_id = ?",
    ),
    insertHold: query(`INSERT INTO holds (wallet_id, hold_id, key_id, requested, minimum, granted, ttl_ms,
      created_at_ms, limits, surface, model, metadata, state, late, accrued, actual, captured, refunded,
      expires_at_ms, resolved_at_ms) VALUES (${Array(20).fill("?").join(", ")})`),
    updateHold: query(`UPDATE holds SET ${STATE} WHERE wallet_id = ? AND hold_id = ?`),
    resolveHold: query(`UPDATE holds SET ${STATE}, ${RESOLUTION} WHERE wallet_id = ? AND hold_id = ?`),
    insertTransfer:
      query(`INSERT INTO transfers (wallet_id, seq, transfer_id, kind, debit_account, credit_account,
      amount, posted_after, hold_id, created_at_ms) VALUES (${Array(10).fill("?").join(", ")})`),
    upsertCounter: query(`INSERT INTO limit_counters (wallet_id, limit_id, period_start_ms, used, held)
      VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET used = excluded.used, held = excluded.held`),
    upsertLimit:
      query(`INSERT INTO spend_limits (wallet_id, limit_id, key_id, period, time_zone, amount, deleted_at_ms)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET period = excluded.period, time_zone = excluded.time_zone,
        amount = excluded.amount, deleted_at_ms = excluded.deleted_at_ms`),
  };
}
