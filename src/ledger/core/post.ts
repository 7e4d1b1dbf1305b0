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
import { type Outcome, type Rule, refuse } from "./outcome.ts";
import { counterOf } from "./resolve.ts";
import { isAmount, isHoldId, isId, isKeepable } from "./validate.ts";

/**
 * Money into a wallet, also a frozen one. In order: `invalid_id`, `invalid_amount` (also zero),
 * `wallet_not_found`, `conflict` (the id named another amount), `balance_overflow`.
 */
export const topUp: Rule<TopUpRequest, Posting> = (book, request, nowMs) => {
  if (!isId(request.walletId) || !isId(request.topUpId)) return refuse("invalid_id");
  if (!isAmount(request.amount) || request.amount === 0n) return refuse("invalid_amount");
  if (!book.wallet) return refuse("wallet_not_found");
  const stored = book.postings.get(postingKey(TRANSFER_KINDS.topUp, request.topUpId));
  if (stored) return replay(book.wallet, stored.amount === request.amount);
  return post(book.wallet, {
    transferId: request.topUpId,
    kind: TRANSFER_KINDS.topUp,
    debitAccount: ACCOUNTS.funding,
    creditAccount: ACCOUNTS.wallet,
    amount: request.amount,
    holdId: undefined,
    createdAtMs: nowMs,
  });
};

/**
 * Gives a captured cost back, on the wallet and on the limits it was counted against. In order:
 * `invalid_id`, `invalid_amount` (also zero), `wallet_not_found`, `conflict` (the id named something
 * else), `hold_not_found`, `refund_exceeds_charge`, `balance_overflow`.
 */
export const refund: Rule<RefundRequest, Posting> = (book, request, nowMs) => {
  const { walletId, refundId, holdId, amount } = request;
  if (!isId(walletId) || !isId(refundId) || !isHoldId(holdId)) return refuse("invalid_id");
  if (!isAmount(amount) || amount === 0n) return refuse("invalid_amount");
  if (!book.wallet) return refuse("wallet_not_found");
  const stored = book.postings.get(postingKey(TRANSFER_KINDS.refund, refundId));
  if (stored) return replay(book.wallet, stored.amount === amount && stored.holdId === holdId);
  const hold = book.holds.get(holdId);
  if (!hold) return refuse("hold_not_found");
  if (amount > hold.captured - hold.refunded) return refuse("refund_exceeds_charge");
  return post(
    book.wallet,
    {
      transferId: refundId,
      kind: TRANSFER_KINDS.refund,
      debitAccount: ACCOUNTS.usageRevenue,
      creditAccount: ACCOUNTS.wallet,
      amount,
      holdId,
      createdAtMs: nowMs,
    },
    { holds: [{ ...hold, refunded: hold.refunded + amount }], counters: givenBack(book, request) },
  );
};

function givenBack(book: Book, { holdId, amount }: RefundRequest) {
  const limits = book.holds.get(holdId)?.limits ?? [];
  return limits.map((key) => {
    const counter = counterOf(book, key);
    return { ...counter, used: counter.used - amount };
  });
}

function replay(wallet: Wallet, isSame: boolean): Outcome<Posting> {
  return isSame ? { answer: { balances: balancesOf(wallet), replayed: true } } : refuse("conflict");
}

/** Credits the wallet with one transfer, and changes `beside` it. */
function post(
  wallet: Wallet,
  transfer: Omit<Transfer, "seq" | "postedAfter">,
  beside: Changes = {},
): Outcome<Posting> {
  const posted = wallet.posted + transfer.amount;
  if (!isKeepable(posted)) return refuse("balance_overflow");
  const after = { ...wallet, posted, lastSeq: wallet.lastSeq + 1 };
  return {
    answer: { balances: balancesOf(after), replayed: false },
    changes: {
      ...beside,
      wallet: after,
      transfers: [{ ...transfer, seq: after.lastSeq, postedAfter: posted }],
    },
  };
}
