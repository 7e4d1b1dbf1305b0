import type { ReleaseRequest, Settlement, SettleRequest } from "../ledger.ts";
import { TRANSFER_KINDS } from "./book.ts";
import { decline, type Rule } from "./command.ts";
import { bookable, decideResolution, replaySettlement, withHold } from "./resolve.ts";
import { areOutcomeFacts, isAmount, isHoldId, isId, printMetadata } from "./validate.ts";

/**
 * Books the actual cost of a hold and frees the rest. Declines, in order: `invalid_id`, `invalid_amount`,
 * `invalid_facts`, `invalid_metadata`, `wallet_not_found`, `hold_not_found`, `hold_released`, `conflict`
 * (settled with another amount), `balance_overflow`. After an expiry, books only the excess over the amount
 * that the expiry captured, and at least 0.
 */
export const settle: Rule<SettleRequest, Settlement> = (book, request, nowMs) => {
  const { facts, amount } = request;
  if (!isId(request.walletId) || !isHoldId(request.holdId)) return decline("invalid_id");
  if (!isAmount(amount)) return decline("invalid_amount");
  if (!areOutcomeFacts(facts)) return decline("invalid_facts");
  const metadata = printMetadata(request.metadata);
  if (metadata === null) return decline("invalid_metadata");
  return withHold(book, request, (hold, money) => {
    if (hold.state === "released") return decline("hold_released");
    if (hold.state === "settled") {
      return hold.actual === amount ? replaySettlement(hold, money.wallet) : decline("conflict");
    }
    const isLate = hold.state === "expired";
    const captured = isLate && hold.captured > amount ? hold.captured : amount;
    if (captured - hold.captured > bookable(money, hold.limits)) return decline("balance_overflow");
    const kind = isLate ? TRANSFER_KINDS.lateSettlement : TRANSFER_KINDS.settlement;
    const resolution = { facts, metadata };
    return decideResolution(money, hold, {
      state: "settled",
      captured,
      actual: amount,
      kind,
      resolution,
      nowMs,
    });
  });
};

/**
 * Frees the whole hold. Declines, in order: `invalid_id`, `invalid_facts`, `invalid_metadata`,
 * `wallet_not_found`, `hold_not_found`, `hold_settled`. After an expiry it changes nothing and returns the
 * amount that the expiry captured.
 */
export const release: Rule<ReleaseRequest, Settlement> = (book, request, nowMs) => {
  const { facts } = request;
  if (!isId(request.walletId) || !isHoldId(request.holdId)) return decline("invalid_id");
  if (!areOutcomeFacts(facts)) return decline("invalid_facts");
  const metadata = printMetadata(request.metadata);
  if (metadata === null) return decline("invalid_metadata");
  return withHold(book, request, (hold, money) => {
    if (hold.state === "settled") return decline("hold_settled");
    if (hold.state !== "held") return replaySettlement(hold, money.wallet);
    const kind = TRANSFER_KINDS.settlement;
    const resolution = { facts, metadata };
    return decideResolution(money, hold, { state: "released", captured: 0n, kind, resolution, nowMs });
  });
};
