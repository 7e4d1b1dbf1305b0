// The ends of credits: every decision first books those that have come.
import type { Balances } from "../records.ts";
import { type Book, balancesOf, type Changes, type Wallet } from "./book.ts";
import { decline, type Rule } from "./command.ts";
import { type CreditedMoney, withCredits } from "./credits.ts";
import { applyCredits } from "./resolve.ts";
import { endCredits } from "./spend-credits.ts";

/** Books the ends of a wallet's credits that have come. Submitted by the sweeper. Declines `wallet_not_found` only. */
export const expireCredits: Rule<{ readonly walletId: string }, undefined> = (book, _request, nowMs) => {
  if (!book.wallet) return decline("wallet_not_found");
  const changes = endsOf({ wallet: book.wallet, credits: book.credits }, nowMs);
  return changes ? { result: undefined, changes } : { result: undefined };
};

/** Returns a book after the ends of credits that have come, with their changes. `undefined` when none has. */
export function endDueCredits(
  book: Book,
  nowMs: number,
): { readonly book: Book; readonly changes: Changes } | undefined {
  if (!book.wallet?.isMixed) return undefined;
  const changes = endsOf({ wallet: book.wallet, credits: book.credits }, nowMs);
  if (!changes) return undefined;
  const after: Book = {
    ...book,
    wallet: changes.wallet,
    credits: withCredits(book.credits, changes.credits ?? []),
    limitsInForce: (spender) => book.limitsInForce(spender),
    capturesOf: (holdId) => book.capturesOf(holdId),
  };
  return { book: after, changes };
}

/** The balances of a wallet at a time, whether or not the ends of its credits are booked. */
export function balancesAt(money: CreditedMoney, nowMs: number): Balances {
  return balancesOf(endsOf(money, nowMs)?.wallet ?? money.wallet);
}

function endsOf(
  { wallet, credits }: CreditedMoney,
  nowMs: number,
): (Changes & { readonly wallet: Wallet }) | undefined {
  const ended = endCredits({ wallet, credits }, nowMs);
  return ended && applyCredits({ wallet }, ended, { before: credits, nowMs });
}
