import type { DeleteSpendLimitRequest, SpendLimit } from "../ledger.ts";
import type { KeptLimit } from "./book.ts";
import { type Rule, refuse } from "./outcome.ts";
import { isTimeZone } from "./period.ts";
import { isAmount, isId } from "./validate.ts";

/**
 * Creates or replaces a limit, or brings back one that was deleted; what it counted in the period counts
 * against the new amount. In order: `invalid_id`, `invalid_amount`, `invalid_time_zone`,
 * `wallet_not_found`, `conflict` (the id is, or was, a limit of another key).
 *
 * Another period or zone starts another count, at nothing: what the old periods counted stays with them.
 * Only where the new period starts at the very instant an old one did (a month and its first day) it goes
 * on with that count, and rightly: all of it was spent since that instant, so none of it before the period.
 */
export const setSpendLimit: Rule<SpendLimit, undefined> = (book, request) => {
  const { walletId, limitId, keyId, period, timeZone, amount } = request;
  if (!isId(walletId) || !isId(limitId)) return refuse("invalid_id");
  if (keyId !== undefined && !isId(keyId)) return refuse("invalid_id");
  if (!isAmount(amount)) return refuse("invalid_amount");
  if (timeZone !== undefined && !isTimeZone(timeZone)) return refuse("invalid_time_zone");
  if (!book.wallet) return refuse("wallet_not_found");
  const stored = book.limits.get(limitId);
  if (stored && stored.keyId !== keyId) return refuse("conflict");
  const limit = { walletId, limitId, keyId, period, timeZone, amount };
  return stored && isSame(stored, limit)
    ? { answer: undefined }
    : { answer: undefined, changes: { limits: [limit] } };
};

/**
 * Takes a limit out of force; one that is not there, or was deleted before, is no error. In order:
 * `invalid_id`, `wallet_not_found`. Holds that counted against it still do, should it come back.
 */
export const deleteSpendLimit: Rule<DeleteSpendLimitRequest, undefined> = (book, request, nowMs) => {
  if (!isId(request.walletId) || !isId(request.limitId)) return refuse("invalid_id");
  if (!book.wallet) return refuse("wallet_not_found");
  const stored = book.limits.get(request.limitId);
  if (!stored || stored.deletedAtMs !== undefined) return { answer: undefined };
  return { answer: undefined, changes: { limits: [{ ...stored, deletedAtMs: nowMs }] } };
};

function isSame(stored: KeptLimit, limit: SpendLimit): boolean {
  return (
    stored.deletedAtMs === undefined &&
    stored.period === limit.period &&
    stored.timeZone === limit.timeZone &&
    stored.amount === limit.amount
  );
}
