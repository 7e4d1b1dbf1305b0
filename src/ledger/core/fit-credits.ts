import { leastOf, type Nanos } from "../../domain/money.ts";
import type { Credit } from "../records.ts";
import { type CreditedMoney, debtOf, firstCreditOf, isMixedOf, sumOfLeft, withCredits } from "./credits.ts";
import { correctCredits } from "./spend-credits.ts";
import type { WorkingBook } from "./working-book.ts";

/**
 * Makes the credits of a mixed wallet fit its balance, where a program of an earlier version has charged it or topped it up
 * beside this one. What it charged is taken in the order of spending; what came in never ends. Must be called
 * when the credits were read.
 */
export function fitCredits(book: WorkingBook): void {
  const { wallet, credits } = book;
  if (!wallet?.isMixed) return;
  const missed = missedBy({ wallet, credits });
  if (missed === 0n) return;
  const changed =
    missed > 0n
      ? correctCredits(credits, missed, undefined).credits
      : [firstWith({ wallet, credits }, -missed)];
  const isMixed = isMixedOf(withCredits(credits, changed).live, wallet.newestCredit);
  book.apply({ wallet: { ...wallet, isMixed }, credits: changed });
}

/** Adds what came in to what the wallet had before credits were kept. */
function firstWith({ wallet, credits }: CreditedMoney, more: Nanos): Credit {
  const first = credits.get(0) ?? { ...firstCreditOf(wallet), amount: 0n, left: 0n };
  return { ...first, amount: first.amount + more, left: first.left + more };
}

/** Returns what was charged and is not taken off credits; negative for what came in and is in none. */
function missedBy({ wallet, credits }: CreditedMoney): Nanos {
  const open = credits.live.filter(({ claims }) => claims === undefined);
  return leastOf(debtOf(wallet, credits), sumOfLeft(open));
}
