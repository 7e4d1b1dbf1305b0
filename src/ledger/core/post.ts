// The postings that bring money into a wallet or take it back: top-ups, corrections and refunds.
import { isCreditSource, isPlanCreditId } from "../../domain/credit.ts";
import type { Posting, RefundRequest, TopUpRequest } from "../ledger.ts";
import {
  ACCOUNTS,
  type Book,
  balancesOf,
  type Changes,
  postingKey,
  TRANSFER_KINDS,
  type Transfer,
  type Wallet,
} from "./book.ts";
import { type Decision, type Declined, decline, type Rule } from "./command.ts";
import type { CreditedMoney } from "./credits.ts";
import { grantCredit, returnCredits } from "./grant-credits.ts";
import { applyCredits, counterOf } from "./resolve.ts";
import { type CreditChanges, correctCredits } from "./spend-credits.ts";
import { isAmount, isHoldId, isId, isStorableSum, isTime, isTtl } from "./validate.ts";

/**
 * Grants a credit, also to a frozen wallet. A negative amount is a correction: it takes money off, whatever the
 * balance. Declines, in order: `invalid_id` (also that of a plan's credit, for any other), `invalid_amount` (also 0), `invalid_credit` (its source, or an end that is
 * not to come), `wallet_not_found`, `conflict` (the id was used with another amount, source or end),
 * `balance_overflow`, `invalid_credit` (too many credits).
 */
export const topUp: Rule<TopUpRequest, Posting> = (book, request, nowMs) => {
  const { walletId, topUpId, creditId } = request;
  if (!isId(walletId) || !isId(topUpId) || (creditId !== undefined && !isId(creditId)))
    return decline("invalid_id");
  const isCorrection = typeof request.amount === "bigint" && request.amount < 0n;
  if (isPlanCreditId(topUpId) && (isCorrection || request.source !== "plan")) return decline("invalid_id");
  const amount = isCorrection ? -request.amount : request.amount;
  if (!isAmount(amount) || amount === 0n) return decline("invalid_amount");
  if (!isGrant(request)) return decline("invalid_credit");
  const { wallet, credits } = book;
  if (!wallet) return decline("wallet_not_found");
  const stored = book.postings.get(postingKey(TRANSFER_KINDS.topUp, topUpId));
  if (stored) return replay(wallet, isSameTopUp(book, stored, { ...request, amount, isCorrection }));
  if (request.expiresAtMs !== undefined && request.expiresAtMs <= nowMs) return decline("invalid_credit");
  const money = { wallet, credits };
  const transfer = {
    transferId: topUpId,
    kind: TRANSFER_KINDS.topUp,
    amount,
    holdId: undefined,
    createdAtMs: nowMs,
  };
  return isCorrection
    ? post(money, { ...transfer, debitAccount: ACCOUNTS.wallet, creditAccount: ACCOUNTS.funding }, () =>
        wallet.isMixed ? correctCredits(credits, amount, creditId) : undefined,
      )
    : post(money, { ...transfer, debitAccount: ACCOUNTS.funding, creditAccount: ACCOUNTS.wallet }, (seq) =>
        grantCredit(money, creditOf(request, seq, nowMs)),
      );
};

function isGrant({ source = "purchase", expiresAtMs }: TopUpRequest): boolean {
  return isCreditSource(source) && (expiresAtMs === undefined || isTime(expiresAtMs));
}

/** Top-ups from before credits were kept have no credit to compare. */
function isSameTopUp(
  { credits }: Book,
  stored: Transfer,
  {
    amount,
    isCorrection,
    source = "purchase",
    expiresAtMs,
  }: TopUpRequest & { readonly isCorrection: boolean },
): boolean {
  const direction = isCorrection ? stored.debitAccount : stored.creditAccount;
  if (stored.amount !== amount || direction !== ACCOUNTS.wallet) return false;
  const credit = isCorrection ? undefined : credits.get(stored.seq);
  return !credit || (credit.source === source && credit.expiresAtMs === expiresAtMs);
}

function creditOf(
  { topUpId, amount, source = "purchase", expiresAtMs }: TopUpRequest,
  seq: number,
  nowMs: number,
) {
  return { seq, creditId: topUpId, source, amount, expiresAtMs, createdAtMs: nowMs };
}

/**
 * Returns captured cost to the wallet, to the credits that it came from, and to the limits it was counted against.
 * Declines, in order: `invalid_id`, `invalid_amount` (also 0), `invalid_credit`, `wallet_not_found`, `conflict` (the id was
 * used with other parameters), `hold_not_found`, `refund_exceeds_charge`, `balance_overflow`.
 */
export const refund: Rule<RefundRequest, Posting> = (book, request, nowMs) => {
  const { walletId, refundId, holdId, amount, creditLifeMs } = request;
  if (!isId(walletId) || !isId(refundId) || !isHoldId(holdId)) return decline("invalid_id");
  if (!isAmount(amount) || amount === 0n) return decline("invalid_amount");
  if (creditLifeMs !== undefined && !isTtl(creditLifeMs)) return decline("invalid_credit");
  const { wallet, credits } = book;
  if (!wallet) return decline("wallet_not_found");
  const stored = book.postings.get(postingKey(TRANSFER_KINDS.refund, refundId));
  if (stored) return replay(wallet, stored.amount === amount && stored.holdId === holdId);
  const hold = book.holds.get(holdId);
  if (!hold) return decline("hold_not_found");
  if (amount > hold.captured - hold.refunded) return decline("refund_exceeds_charge");
  const transfer = {
    transferId: refundId,
    kind: TRANSFER_KINDS.refund,
    debitAccount: ACCOUNTS.usageRevenue,
    creditAccount: ACCOUNTS.wallet,
    amount,
    holdId,
    createdAtMs: nowMs,
  };
  const others = {
    holds: [{ ...hold, refunded: hold.refunded + amount }],
    counters: refundedCounters(book, request),
  };
  const captures = book.capturesOf(holdId);
  const returned = { refundId, amount, creditLifeMs, refunded: hold.refunded, captures };
  return post(
    { wallet, credits },
    transfer,
    (seq) => returnCredits({ wallet, credits }, returned, { seq, nowMs }),
    others,
  );
};

function refundedCounters(book: Book, { holdId, amount }: RefundRequest) {
  const limits = book.holds.get(holdId)?.limits ?? [];
  return limits.map((key) => {
    const counter = counterOf(book, key);
    return { ...counter, used: counter.used - amount };
  });
}

function replay(wallet: Wallet, isSame: boolean): Decision<Posting> {
  return isSame ? { result: { balances: balancesOf(wallet), replayed: true } } : decline("conflict");
}

/**
 * Books one transfer into or out of the wallet. `changeCredits` takes the transfer's number. `otherChanges` are changes
 * of the same decision to other rows.
 */
function post(
  { wallet, credits }: CreditedMoney,
  transfer: Omit<Transfer, "seq" | "postedAfter" | "credits">,
  changeCredits: (seq: number) => CreditChanges | Declined | undefined,
  otherChanges: Changes = {},
): Decision<Posting> {
  const isCredit = transfer.creditAccount === ACCOUNTS.wallet;
  const posted = isCredit ? wallet.posted + transfer.amount : wallet.posted - transfer.amount;
  if (!isStorableSum(posted)) return decline("balance_overflow");
  const seq = wallet.lastSeq + 1;
  const changed = changeCredits(seq);
  if (changed && "declined" in changed) return changed;
  const booked = { ...transfer, seq, postedAfter: posted, credits: changed?.parts };
  const step = { ...otherChanges, wallet: { ...wallet, posted, lastSeq: seq }, transfers: [booked] };
  const changes = changed
    ? applyCredits(step, changed, { before: credits, nowMs: transfer.createdAtMs })
    : step;
  return { result: { balances: balancesOf(changes.wallet), replayed: false }, changes };
}
