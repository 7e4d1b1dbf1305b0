import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { Hold, Transfer, Wallet } from "../book.ts";
import type { OutcomeFacts } from "../ledger.ts";
import type { Unwritten, WorkingBook } from "../working-book.ts";
import { printLimitPeriods } from "./rows.ts";

const ATTEMPTS_MAX = 8;

/** Writes what a batch changed; to be called inside its transaction. */
export type WriteBooks = (books: ReadonlyMap<string, WorkingBook>) => void;

export function createWriter(client: Database): WriteBooks {
  const statements = prepare(client);

  const writeHolds = (walletId: string, unwritten: Unwritten) => {
    const { newHolds, changedHolds, outcomes } = unwritten;
    for (const hold of newHolds.values()) statements.insertHold.run(...insertOf(walletId, hold));
    for (const hold of changedHolds.values()) {
      if (!outcomes.has(hold.holdId)) statements.updateHold.run(...stateOf(hold), walletId, hold.holdId);
    }
    for (const [holdId, facts] of outcomes) {
      const hold = newHolds.get(holdId) ?? changedHolds.get(holdId);
      if (hold) statements.resolveHold.run(...stateOf(hold), ...outcomeOf(facts), walletId, holdId);
    }
  };

  const writeWallet = ({ createsWallet, wallet }: Unwritten) => {
    if (!wallet) return;
    if (createsWallet) {
      const { walletId, creditLimit, createdAtMs } = wallet;
      statements.insertWallet.run(walletId, creditLimit, createdAtMs);
    }
    statements.updateWallet.run(...balancesOf(wallet));
  };

  return (books) => {
    for (const [walletId, { unwritten }] of books) {
      writeWallet(unwritten);
      writeHolds(walletId, unwritten);
      for (const transfer of unwritten.transfers) {
        statements.insertTransfer.run(...transferOf(walletId, transfer));
      }
      for (const { limitId, periodStartMs, used, held } of unwritten.counters.values()) {
        statements.putCounter.run(walletId, limitId, periodStartMs, used, held);
      }
      for (const { limitId, keyId, period, amount } of unwritten.limits.values()) {
        statements.putLimit.run(walletId, limitId, keyId ?? null, period, amount);
      }
    }
  };
}

function insertOf(walletId: string, hold: Hold): SQLQueryBindings[] {
  return [
    walletId,
    hold.holdId,
    hold.keyId,
    hold.requested,
    hold.minimum,
    hold.granted,
    hold.ttlMs,
    hold.createdAtMs,
    printLimitPeriods(hold.limits),
    hold.facts.surface,
    hold.facts.model,
    hold.metadata ?? null,
    ...stateOf(hold),
  ];
}

function stateOf(hold: Hold): SQLQueryBindings[] {
  return [
    hold.state,
    hold.late ? 1 : 0,
    hold.accrued,
    hold.actual ?? null,
    hold.captured,
    hold.refunded,
    hold.expiresAtMs,
    hold.resolvedAtMs ?? null,
  ];
}

function outcomeOf(facts: OutcomeFacts): SQLQueryBindings[] {
  const { price, usage } = facts;
  return [
    facts.outcome,
    facts.source,
    facts.upstream ?? null,
    facts.upstreamModel ?? null,
    price?.input ?? null,
    price?.output ?? null,
    price?.cachedInput ?? null,
    price?.cacheWrite ?? null,
    price?.cacheWrite1h ?? null,
    usage?.inputTokens ?? null,
    usage?.cachedInputTokens ?? null,
    usage?.cacheWriteTokens ?? null,
    usage?.cacheWrite1hTokens ?? null,
    usage?.outputTokens ?? null,
    facts.firstOutputMs === undefined ? null : Math.round(facts.firstOutputMs),
    Math.round(facts.totalMs),
    JSON.stringify(facts.attempts.slice(-ATTEMPTS_MAX)),
  ];
}

function balancesOf({ posted, held, state, lastSeq, walletId }: Wallet): SQLQueryBindings[] {
  return [posted, held, state, lastSeq, walletId];
}

function transferOf(walletId: string, transfer: Transfer): SQLQueryBindings[] {
  const { seq, transferId, kind, debitAccount, creditAccount, amount, postedAfter } = transfer;
  const accounts = [debitAccount, creditAccount];
  return [
    walletId,
    seq,
    transferId,
    kind,
    ...accounts,
    amount,
    postedAfter,
    transfer.holdId ?? null,
    transfer.createdAtMs,
  ];
}

const STATE = `state = ?, late = ?, accrued = ?, actual = ?, captured = ?, refunded = ?, expires_at_ms = ?,
  resolved_at_ms = ?`;
const OUTCOME = `outcome = ?, source = ?, upstream = ?, upstream_model = ?, price_input = ?, price_output = ?,
  price_cached_input = ?, price_cache_write = ?, price_cache_write_1h = ?, input_tokens = ?,
  cached_input_tokens = ?, cache_write_tokens = ?, cache_write_1h_tokens = ?, output_tokens = ?,
  first_output_ms = ?, total_ms = ?, attempts = ?`;

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
    resolveHold: query(`UPDATE holds SET ${STATE}, ${OUTCOME} WHERE wallet_id = ? AND hold_id = ?`),
    insertTransfer:
      query(`INSERT INTO transfers (wallet_id, seq, transfer_id, kind, debit_account, credit_account,
      amount, posted_after, hold_id, created_at_ms) VALUES (${Array(10).fill("?").join(", ")})`),
    putCounter: query(`INSERT INTO limit_counters (wallet_id, limit_id, period_start_ms, used, held)
      VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET used = excluded.used, held = excluded.held`),
    putLimit:
      query(`INSERT INTO spend_limits (wallet_id, limit_id, key_id, period, amount) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET period = excluded.period, amount = excluded.amount`),
  };
}
