import type { Nanos } from "../../domain/money.ts";
import type { Changes, Wallet } from "./book.ts";
import { type CreditedMoney, Credits, debtOf, firstCreditOf, isMixedOf, withCredits } from "./credits.ts";
import { takenFrom } from "./spend-credits.ts";

/**
 * Makes the credits of a mixed wallet fit its balance, where a program of an earlier version has charged it or topped it up
 * beside this one. What it charged is taken in the order of spending; what came in never ends. Must be called
 * when the credits were read. `undefined` when they fit.
 */
export function fitCredits(money: CreditedMoney): (Changes & { readonly wallet: Wallet }) | undefined {
  const { wallet, credits } = money;
  if (!wallet.isMixed) return undefined;
  const missed = missedBy(money);
  if (missed === 0n) return undefined;
  const changed = new Credits();
  if (missed > 0n) {
    for (const [seq, amount] of takenFrom(credits.live, missed, undefined)) {
      const credit = credits.get(seq);
      if (credit) changed.set({ ...credit, left: credit.left - amount });
    }
  } else {
    const first = credits.get(0) ?? { ...firstCreditOf(wallet), amount: 0n, left: 0n };
    changed.set({ ...first, amount: first.amount - missed, left: first.left - missed });
  }
  const isMixed = isMixedOf(withCredits(credits, changed), wallet.newestCredit);
  return { wallet: { ...wallet, isMixed }, credits: [...changed] };
}

/** Returns what was charged and is not taken off credits; negative for what came in and is in none. */
function missedBy({ wallet, credits }: CreditedMoney): Nanos {
  const debt = debtOf(wallet, credits);
  if (debt < 0n) return debt;
  const open = credits.live.filter(({ claims }) => claims === undefined);
  const spendable = open.reduce((sum, { left }) => sum + left, 0n);
  return debt < spendable ? debt : spendable;
}
