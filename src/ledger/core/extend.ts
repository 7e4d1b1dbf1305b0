import type { ExtendRequest } from "../ledger.ts";
import { type Rule, refuse } from "./outcome.ts";
import { isAmount, isHoldId, isId, isTtl } from "./validate.ts";

/**
 * A heartbeat: never lowers what was accrued, never shortens a hold's life. In order: `invalid_id`,
 * `invalid_amount`, `wallet_not_found`, `hold_not_found`, `hold_settled` / `hold_released` /
 * `hold_expired`. A hold past its time that nothing has expired yet lives on.
 */
export const extend: Rule<ExtendRequest, undefined> = (book, request, nowMs) => {
  if (!isId(request.walletId) || !isHoldId(request.holdId)) return refuse("invalid_id");
  if (!isAmount(request.accrued) || !isTtl(request.ttlMs)) return refuse("invalid_amount");
  if (!book.wallet) return refuse("wallet_not_found");
  const hold = book.holds.get(request.holdId);
  if (!hold) return refuse("hold_not_found");
  if (hold.state !== "held") return refuse(`hold_${hold.state}`);

  const accrued = request.accrued > hold.accrued ? request.accrued : hold.accrued;
  const expiresAtMs = Math.max(hold.expiresAtMs, nowMs + request.ttlMs);
  if (accrued === hold.accrued && expiresAtMs === hold.expiresAtMs) return { answer: undefined };
  return { answer: undefined, changes: { holds: [{ ...hold, accrued, expiresAtMs }] } };
};
