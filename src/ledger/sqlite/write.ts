import type { Database } from "bun:sqlite";
import type { Hold, Resolution, Wallet } from "../core/book.ts";
import type { WorkingBook, WriteSet } from "../core/working-book.ts";
import { staleHoursOf, unchargedEndsOf } from "../engine/store.ts";
import {
  creditValues,
  limitValues,
  printCounterKeys,
  requestValues,
  resolutionValues,
  stateValues,
  transferValues,
  type Value,
} from "../queries/rows.ts";

/** What the one row of `usage_fence` asks of a batch. */
export interface WriteFence {
  /** Changes to receipts with lesser ids make their hours stale. */
  readonly id: string;
  /** Whether receipts that end without a transfer are recorded for exports. */
  readonly recordsEnds: boolean;
}

/**
 * Writes the changes of a batch, the stale hours before the fence of the roll-ups, and for exports the receipts
 * that end without a transfer. Must be called inside its transaction.
 */
export type WriteBooks = (books: ReadonlyMap<string, WorkingBook>, fence: WriteFence) => void;

export function createWriter(client: Database): WriteBooks {
  const statements = prepare(client);

  const insertHold = (walletId: string, hold: Hold) => {
    if (isUntouched(hold)) statements.insertOpenHold.run(openHoldValues(walletId, hold));
    else statements.insertHold.run([walletId, hold.holdId, ...requestValues(hold), ...stateValues(hold)]);
  };

  const updateHold = (walletId: string, hold: Hold, resolution: Resolution | undefined) => {
    if (!resolution) statements.updateHold.run([...stateValues(hold), walletId, hold.holdId]);
    else {
      const resolved = [...stateValues(hold), ...resolutionValues(resolution), walletId, hold.holdId];
      statements.resolveHold.run(resolved);
    }
  };

  const writeHolds = (walletId: string, { newHolds, changedHolds, resolutions }: WriteSet) => {
    for (const hold of newHolds.values()) {
      insertHold(walletId, hold);
      const resolution = resolutions.get(hold.holdId);
      if (resolution) updateHold(walletId, hold, resolution);
    }
    for (const hold of changedHolds.values()) updateHold(walletId, hold, resolutions.get(hold.holdId));
  };

  const writeWallet = ({ createsWallet, wallet }: WriteSet) => {
    if (!wallet) return;
    if (createsWallet) {
      const { walletId, creditLimit, createdAtMs } = wallet;
      statements.insertWallet.run([walletId, creditLimit, createdAtMs]);
    }
    statements.updateWallet.run(walletValues(wallet));
  };

  return (books, { id, recordsEnds }) => {
    for (const { walletId, startMs } of staleHoursOf(books, id)) {
      statements.upsertStaleHour.run([walletId, startMs]);
    }
    if (recordsEnds) {
      for (const { walletId, holdId } of unchargedEndsOf(books))
        statements.insertUnchargedEnd.run([walletId, holdId]);
    }
    for (const [walletId, { writeSet }] of books) {
      writeWallet(writeSet);
      writeHolds(walletId, writeSet);
      for (const transfer of writeSet.transfers) {
        statements.insertTransfer.run(transferValues(walletId, transfer));
      }
      for (const { counterId, periodStartMs, used, held } of writeSet.counters) {
        statements.upsertCounter.run([walletId, counterId, periodStartMs, used, held]);
      }
      for (const limit of writeSet.limits.values()) statements.upsertLimit.run(limitValues(limit));
      for (const { holdId, limits } of writeSet.boundHolds.values()) {
        statements.bindHold.run([printCounterKeys(limits), walletId, holdId]);
      }
      for (const { counterId, periodStartMs, used } of writeSet.openings) {
        statements.addOpening.run([walletId, counterId, periodStartMs, used]);
      }
      for (const credit of writeSet.credits.values())
        statements.upsertCredit.run(creditValues(walletId, credit));
    }
  };
}

/** Whether a new hold is as the hold command made it: nearly always. */
function isUntouched({ state, accrued }: Hold): boolean {
  return state === "held" && accrued === 0n;
}

/** The columns of {@link isUntouched} holds that are not constant. */
function openHoldValues(walletId: string, hold: Hold): readonly Value[] {
  return [walletId, hold.holdId, hold.expiresAtMs, ...requestValues(hold)];
}

function walletValues(wallet: Wallet): readonly Value[] {
  const { posted, held, state, lastSeq, newestCredit, isMixed, newestHoldMs, walletId } = wallet;
  return [posted, held, state, lastSeq, newestCredit, isMixed, newestHoldMs, walletId];
}

const STATE = `state = ?, late = ?, accrued = ?, actual = ?, captured = ?, refunded = ?, expires_at_ms = ?,
  resolved_at_ms = ?`;
const RESOLUTION = `outcome = ?, source = ?, upstream = ?, upstream_model = ?, price_input = ?, price_output = ?,
  price_cached_input = ?, price_cache_write = ?, price_cache_write_1h = ?, input_tokens = ?,
  cached_input_tokens = ?, cache_write_tokens = ?, cache_write_1h_tokens = ?, output_tokens = ?,
  first_output_ms = ?, total_ms = ?, attempts = ?, settle_metadata = ?, upstream_cost = ?,
  unit_name = ?, units = ?, unit_price = ?, tier = ?, items = ?`;

/** Bun takes the values as one array too, without copying them. Its types lack that form. */
interface WriteStatement {
  run(values: readonly Value[]): unknown;
}

function prepare(client: Database) {
  const query = (sql: string) => client.query(sql) as unknown as WriteStatement;
  return {
    insertWallet:
      query(`INSERT INTO wallets (wallet_id, credit_limit, created_at_ms, posted, held, state, last_seq)
      VALUES (?, ?, ?, 0, 0, 'active', 0)`),
    updateWallet: query(
      `UPDATE wallets SET posted = ?, held = ?, state = ?, last_seq = ?, newest_credit = ?, mixed = ?,
        newest_hold_ms = ?
        WHERE wallet_id = ?`,
    ),
    insertHold: query(`INSERT INTO holds (wallet_id, hold_id, key_id, requested, minimum, granted, ttl_ms,
      created_at_ms, limits, surface, model, metadata, scopes, state, late, accrued, actual, captured, refunded,
      expires_at_ms, resolved_at_ms) VALUES (${Array(21).fill("?").join(", ")})`),
    insertOpenHold: query(`INSERT INTO holds (wallet_id, hold_id, expires_at_ms, key_id, requested, minimum,
      granted, ttl_ms, created_at_ms, limits, surface, model, metadata, scopes, state, late, accrued, captured,
      refunded) VALUES (${Array(14).fill("?").join(", ")}, 'held', 0, 0, 0, 0)`),
    updateHold: query(`UPDATE holds SET ${STATE} WHERE wallet_id = ? AND hold_id = ?`),
    resolveHold: query(`UPDATE holds SET ${STATE}, ${RESOLUTION} WHERE wallet_id = ? AND hold_id = ?`),
    insertTransfer:
      query(`INSERT INTO transfers (wallet_id, seq, transfer_id, kind, debit_account, credit_account,
      amount, posted_after, hold_id, created_at_ms, credits) VALUES (${Array(11).fill("?").join(", ")})`),
    upsertCounter: query(`INSERT INTO limit_counters (wallet_id, limit_id, period_start_ms, used, held)
      VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET used = excluded.used, held = excluded.held`),
    upsertStaleHour: query(`INSERT INTO usage_stale (wallet_id, start_ms, changes) VALUES (?, ?, 1)
      ON CONFLICT DO UPDATE SET changes = changes + 1`),
    insertUnchargedEnd: query("INSERT INTO export_ends (wallet_id, hold_id) VALUES (?, ?)"),
    bindHold: query("UPDATE holds SET limits = ? WHERE wallet_id = ? AND hold_id = ?"),
    addOpening:
      query(`INSERT INTO dropped_counters (wallet_id, limit_id, period_start_ms, used) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET used = used + excluded.used`),
    upsertCredit:
      query(`INSERT INTO credits (wallet_id, seq, left_amount, expired, claims, ended_at_ms, live, credit_id, source, amount,
      expires_at_ms, created_at_ms) VALUES (${Array(12).fill("?").join(", ")})
      ON CONFLICT DO UPDATE SET left_amount = excluded.left_amount, expired = excluded.expired,
        claims = excluded.claims, ended_at_ms = excluded.ended_at_ms, live = excluded.live, amount = excluded.amount`),
    upsertLimit:
      query(`INSERT INTO spend_limits (wallet_id, limit_id, key_id, period, time_zone, amount, deleted_at_ms,
      each_kind) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET period = excluded.period, time_zone = excluded.time_zone,
        amount = excluded.amount, deleted_at_ms = excluded.deleted_at_ms`),
  };
}
