// The commands of a wallet that move no money: its creation, its state and its spending limits.

import { NANOS_MAX } from "../../domain/money.ts";
import { isTimeZone, periodStart } from "../../domain/period.ts";
import type { DeleteSpendLimitRequest, WalletStateRequest } from "../ledger.ts";
import type { Balances, SpendLimit } from "../records.ts";
import {
  type Book,
  balancesOf,
  type Changes,
  type Hold,
  type LimitPeriodKey,
  type StoredLimit,
  spendKey,
  type Wallet,
} from "./book.ts";
import { decline, type Rule } from "./command.ts";
import { counterOf } from "./resolve.ts";
import { isAmount, isId } from "./validate.ts";

/** Creates an empty, active wallet. An existing wallet stays as it is. Declines `invalid_id`. */
export const createWallet: Rule<{ readonly walletId: string }, Balances> = (book, { walletId }, nowMs) => {
  if (!isId(walletId)) return decline("invalid_id");
  if (book.wallet) return { result: balancesOf(book.wallet) };
  const wallet: Wallet = {
    walletId,
    posted: 0n,
    held: 0n,
    creditLimit: 0n,
    state: "active",
    lastSeq: 0,
    createdAtMs: nowMs,
  };
  return { result: balancesOf(wallet), changes: { wallet } };
};

/** Freezes or unfreezes a wallet. Open holds stay. Declines, in order: `invalid_id`, `wallet_not_found`. */
export const setWalletState: Rule<WalletStateRequest, undefined> = ({ wallet }, { walletId, state }) => {
  if (!isId(walletId)) return decline("invalid_id");
  if (!wallet) return decline("wallet_not_found");
  if (wallet.state === state) return { result: undefined };
  return { result: undefined, changes: { wallet: { ...wallet, state } } };
};

/**
 * Creates or replaces a limit, or restores a deleted one. What was spent in its current period so far counts
 * against it, see {@link countPeriod}. Declines, in order: `invalid_id`, `invalid_amount`,
 * `invalid_time_zone`, `wallet_not_found`, `conflict` (the id is, or was, a limit of another key).
 */
export const setSpendLimit: Rule<SpendLimit, undefined> = (book, request, nowMs) => {
  const { walletId, limitId, keyId, period, timeZone, amount } = request;
  if (!isId(walletId) || !isId(limitId)) return decline("invalid_id");
  if (keyId !== undefined && !isId(keyId)) return decline("invalid_id");
  if (!isAmount(amount)) return decline("invalid_amount");
  if (timeZone !== undefined && !isTimeZone(timeZone)) return decline("invalid_time_zone");
  if (!book.wallet) return decline("wallet_not_found");
  const stored = book.limits.get(limitId);
  if (stored && stored.keyId !== keyId) return decline("conflict");
  const limit = { walletId, limitId, keyId, period, timeZone, amount };
  if (stored && isSame(stored, limit)) return { result: undefined };
  const counted = stored && isOfSamePeriod(stored, limit) ? {} : countPeriod(book, limit, nowMs);
  return { result: undefined, changes: { limits: [limit], ...counted } };
};

/**
 * Takes a limit out of force. A missing or deleted limit is no error. Declines, in order: `invalid_id`,
 * `wallet_not_found`. Open holds still count against it, should it be restored.
 */
export const deleteSpendLimit: Rule<DeleteSpendLimitRequest, undefined> = (book, request, nowMs) => {
  if (!isId(request.walletId) || !isId(request.limitId)) return decline("invalid_id");
  if (!book.wallet) return decline("wallet_not_found");
  const stored = book.limits.get(request.limitId);
  if (!stored || stored.deletedAtMs !== undefined) return { result: undefined };
  return { result: undefined, changes: { limits: [{ ...stored, deletedAtMs: nowMs }] } };
};

function isSame(stored: StoredLimit, limit: SpendLimit): boolean {
  return isOfSamePeriod(stored, limit) && stored.amount === limit.amount;
}

/** Whether a limit in force keeps its period, so that its counter has counted everything already. */
function isOfSamePeriod(stored: StoredLimit, limit: SpendLimit): boolean {
  return (
    stored.deletedAtMs === undefined && stored.period === limit.period && stored.timeZone === limit.timeZone
  );
}

/**
 * Counts what a limit's current period has seen before the limit was set. Receipts that have ended become an
 * opening of the counter: they are too many to list the limit. Open holds come to list it, so that their ends
 * count once. A later refund or late settlement of an ended receipt leaves the counter unchanged.
 */
function countPeriod(book: Book, limit: SpendLimit, nowMs: number): Changes {
  const { limitId, period, timeZone } = limit;
  const key = { limitId, periodStartMs: periodStart(period, nowMs, timeZone) };
  const spend = book.spends.get(spendKey(key, limit.keyId));
  if (!spend) throw new Error("Cannot decide: the spending of a limit's period was not read");
  const counter = counterOf(book, key);
  const missed = leastOf(spend.amount, NANOS_MAX) - counter.used;
  const opening = missed > 0n ? missed : 0n;
  const boundHolds: Hold[] = [];
  let held = counter.held;
  for (const hold of book.holds.values()) {
    const isOfKey = limit.keyId === undefined || limit.keyId === hold.keyId;
    if (hold.state !== "held" || !isOfKey || hold.holdId < spend.firstId || lists(hold, key)) continue;
    boundHolds.push({ ...hold, limits: [...hold.limits, key] });
    held += hold.granted;
  }
  return {
    counters: opening > 0n || boundHolds.length > 0 ? [{ ...key, used: counter.used + opening, held }] : [],
    openings: opening > 0n ? [{ ...key, used: opening }] : [],
    boundHolds,
  };
}

function lists({ limits }: Hold, { limitId, periodStartMs }: LimitPeriodKey): boolean {
  return limits.some((each) => each.limitId === limitId && each.periodStartMs === periodStartMs);
}

function leastOf(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
