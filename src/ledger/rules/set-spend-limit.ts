import type { SpendLimit } from "../ledger.ts";
import { isAmount, isId } from "./check.ts";
import { type Rule, refuse } from "./outcome.ts";

/**
 * Creates or replaces a limit; its counters stay, so what was spent in the period counts against the
 * new amount. In order: `invalid_id`, `invalid_amount`, `wallet_not_found`, `conflict` (the limit
 * binds another key).
 */
export const setSpendLimit: Rule<SpendLimit, undefined> = (book, limit) => {
  if (!isId(limit.walletId) || !isId(limit.limitId)) return refuse("invalid_id");
  if (limit.keyId !== undefined && !isId(limit.keyId)) return refuse("invalid_id");
  if (!isAmount(limit.amount)) return refuse("invalid_amount");
  if (!book.wallet) return refuse("wallet_not_found");
  const stored = book.limits.get(limit.limitId);
  if (stored && stored.keyId !== limit.keyId) return refuse("conflict");
  if (stored && stored.period === limit.period && stored.amount === limit.amount) {
    return { answer: undefined };
  }
  return { answer: undefined, changes: { limits: [limit] } };
};
