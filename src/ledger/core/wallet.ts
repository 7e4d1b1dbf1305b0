// The commands of a wallet that move no money: its creation, its state and its spending limits.

import { firstIdOf } from "../../domain/id-time.ts";
import { leastOf, NANOS_MAX } from "../../domain/money.ts";
import { isCalendar, isLimitPeriod, isTimeZone, periodStart } from "../../domain/period.ts";
import type {
  DeleteSpendLimitRequest,
  IdleLimit,
  SetSpendLimitRequest,
  WalletStateRequest,
} from "../ledger.ts";
import type { Balances, SpendLimit } from "../records.ts";
import {
  type Book,
  type BookRows,
  balancesOf,
  type Changes,
  type CounterKey,
  Counters,
  type Hold,
  type Opening,
  type StoredLimit,
  spendKey,
  type Wallet,
} from "./book.ts";
import { decline, type Rule } from "./command.ts";
import { limitsOf } from "./headroom.ts";
import { counterOf } from "./resolve.ts";
import { bindingOf, binds, counterIdOf, subjectsOf } from "./spender.ts";
import { areScopes, isAmount, isBindable, isId } from "./validate.ts";

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
    newestCredit: 0,
    isMixed: false,
    newestHoldMs: 0,
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
 * against it, see {@link countPeriod}. Declines, in order: `invalid_id`, `invalid_scope`, `invalid_amount` (also an
 * invalid period), `invalid_time_zone`, `wallet_not_found`, `conflict` (the id is, or was, of a limit that binds
 * something else).
 */
export const setSpendLimit: Rule<SetSpendLimitRequest, "unread" | undefined> = (book, request, nowMs) => {
  const { walletId, limitId, keyId, scope, each, period, timeZone, amount } = request;
  if (!isId(walletId) || !isId(limitId)) return decline("invalid_id");
  if (keyId !== undefined && !isId(keyId)) return decline("invalid_id");
  if (!isBindable(request)) return decline("invalid_scope");
  if (!isAmount(amount) || !isLimitPeriod(period)) return decline("invalid_amount");
  if (timeZone !== undefined && !isTimeZone(timeZone)) return decline("invalid_time_zone");
  if (!book.wallet) return decline("wallet_not_found");
  const stored = book.limits.get(limitId);
  const limit = { walletId, limitId, keyId, scope, each, period, timeZone, amount };
  if (stored && !bindsSame(stored, limit)) return decline("conflict");
  if (stored && isSame(stored, limit)) return { result: undefined };
  const isCounted = stored !== undefined && isOfSamePeriod(stored, limit);
  if (!isCounted && isUnread(book, request, nowMs)) return { result: "unread" };
  const counted = isCounted ? {} : countPeriod(book, request, nowMs);
  return { result: undefined, changes: { limits: [limit], ...counted } };
};

/**
 * Takes a limit out of force. A missing or deleted limit is no error. Declines, in order: `invalid_id`,
 * `invalid_scope`, `wallet_not_found`, `conflict` (the limit is not as idle as the request says). Open holds still count
 * against it, should it be restored.
 */
export const deleteSpendLimit: Rule<DeleteSpendLimitRequest, undefined> = (book, request, nowMs) => {
  const { walletId, limitId, ifIdle } = request;
  if (!isId(walletId) || !isId(limitId) || (ifIdle && !isId(ifIdle.keyId))) return decline("invalid_id");
  if (ifIdle?.scopes && !areScopes(ifIdle.scopes)) return decline("invalid_scope");
  if (!book.wallet) return decline("wallet_not_found");
  const stored = book.limits.get(limitId);
  if (!stored || stored.deletedAtMs !== undefined) return { result: undefined };
  if (ifIdle && !isIdle(book, { limitId, ...ifIdle }, nowMs)) return decline("conflict");
  return { result: undefined, changes: { limits: [{ ...stored, deletedAtMs: nowMs }] } };
};

function isIdle(
  book: Book,
  { limitId, used, ...spender }: IdleLimit & { readonly limitId: string },
  nowMs: number,
): boolean {
  const bound = limitsOf(book, spender, nowMs).filter(({ limit }) => limit.limitId === limitId);
  const counters = bound.map(({ key }) => counterOf(book, key));
  return counters.length > 0 && counters.every((counter) => counter.held === 0n && counter.used === used);
}

function bindsSame(stored: StoredLimit, limit: SpendLimit): boolean {
  return bindingOf(stored) === bindingOf(limit) && stored.each === limit.each;
}

function isSame(stored: StoredLimit, limit: SpendLimit): boolean {
  return isOfSamePeriod(stored, limit) && stored.amount === limit.amount;
}

function isUnread(book: Book, limit: SetSpendLimitRequest, nowMs: number): boolean {
  const key = countedPeriodOf(limit, nowMs);
  const spend = key && book.spends.get(spendKey(key, limit));
  return spend !== undefined && spend.amount === undefined;
}

/** Whether a limit in force keeps its period, so that its counter has counted everything already. */
function isOfSamePeriod(stored: StoredLimit, limit: SpendLimit): boolean {
  return (
    stored.deletedAtMs === undefined && stored.period === limit.period && stored.timeZone === limit.timeZone
  );
}

/**
 * Counts what a limit's current period has seen before the limit was set. Receipts that have ended
 * become an opening of the counter: they are too many to list the limit. Open holds come to list it, so that their
 * ends count once. A later refund or late settlement of an ended receipt leaves the counter unchanged.
 * A window counts nothing: it begins with its first hold.
 */
function countPeriod(book: Book, limit: SetSpendLimitRequest, nowMs: number): Changes {
  const counters = new Counters();
  const openings: Opening[] = [];
  const opening = openingOf(book, limit, nowMs);
  if (opening) {
    openings.push(opening);
    const counter = counterOf(book, opening);
    counters.set({ ...counter, used: counter.used + opening.used });
  }
  const boundHolds: Hold[] = [];
  for (const { hold, keys } of holdsToBind(book, limit, nowMs)) {
    boundHolds.push({ ...hold, limits: [...hold.limits, ...keys] });
    for (const key of keys) {
      const counter = counters.get(key) ?? counterOf(book, key);
      counters.set({ ...counter, held: counter.held + hold.granted });
    }
  }
  return { counters: [...counters], openings, boundHolds };
}

/** Returns what a limit misses of its current period; `undefined` where that is nothing. */
function openingOf(book: Book, limit: SetSpendLimitRequest, nowMs: number): Opening | undefined {
  const key = countedPeriodOf(limit, nowMs);
  if (!key) return undefined;
  const spend = book.spends.get(spendKey(key, limit));
  if (spend?.amount === undefined)
    throw new Error("Cannot decide: the spending of a limit's period was not read");
  const missed = leastOf(spend.amount, NANOS_MAX) - counterOf(book, key).used;
  return missed > 0n ? { ...key, used: missed } : undefined;
}

/**
 * Returns the counter of a limit that counts what was spent in its current period before it was set; `undefined` for
 * windows, templates and limits that count from now on.
 */
export function countedPeriodOf(limit: SetSpendLimitRequest, nowMs: number): CounterKey | undefined {
  const { limitId, each, period, timeZone, countsFromNow = false } = limit;
  if (countsFromNow || each !== undefined || !isCalendar(period)) return undefined;
  return { counterId: limitId, periodStartMs: periodStart(period, nowMs, timeZone) };
}

/** Returns the open holds that a limit to be set will bind, each with the counters that it does not list yet. */
export function holdsToBind(
  { holds }: Pick<BookRows, "holds">,
  limit: SpendLimit,
  nowMs: number,
): readonly { readonly hold: Hold; readonly keys: readonly CounterKey[] }[] {
  const { period, timeZone } = limit;
  if (!isCalendar(period)) return [];
  const periodStartMs = periodStart(period, nowMs, timeZone);
  const firstId = firstIdOf(Math.max(0, periodStartMs));
  const found: { hold: Hold; keys: CounterKey[] }[] = [];
  for (const hold of holds.values()) {
    if (hold.state !== "held" || hold.holdId < firstId) continue;
    if (!binds(limit, hold)) continue;
    const keys = subjectsOf(limit, hold)
      .map((subject) => ({ counterId: counterIdOf(limit, subject), periodStartMs }))
      .filter((key) => !lists(hold, key));
    if (keys.length > 0) found.push({ hold, keys });
  }
  return found;
}

function lists({ limits }: Hold, { counterId, periodStartMs }: CounterKey): boolean {
  return limits.some((each) => each.counterId === counterId && each.periodStartMs === periodStartMs);
}
