import type { ChargePosting, LedgerErrorCode } from "../ledger.ts";
import { type Book, balancesOf, type Hold, postingKey, TRANSFER_KINDS, type Wallet } from "./book.ts";
import { type ChargeCommand, type Decision, decline, type Rule } from "./command.ts";
import { limitsOf } from "./headroom.ts";
import { bookable, resolveHold } from "./resolve.ts";
import { NO_SCOPES } from "./spender.ts";
import {
  areOutcomeFacts,
  areRequestFacts,
  areScopes,
  isAmount,
  isHoldId,
  isId,
  printMetadata,
} from "./validate.ts";

/**
 * Books a cost without a hold, whatever the balance and the limits allow, also on a frozen wallet. Declines,
 * in order: `invalid_id`, `invalid_scope`, `invalid_amount` (also 0), `invalid_facts`, `invalid_metadata`,
 * `wallet_not_found`, `conflict` (the id was used with another amount or key), `balance_overflow`.
 */
export const charge: Rule<ChargeCommand, ChargePosting> = (book, request, nowMs) => {
  const reason = declineReasonOf(request);
  if (reason) return decline(reason);
  const metadata = printMetadata(request.metadata);
  if (metadata === null) return decline("invalid_metadata");
  const { wallet, counters, credits } = book;
  if (!wallet) return decline("wallet_not_found");
  const replayed = replayCharge(book, wallet, request);
  if (replayed) return replayed;

  const money = { wallet, counters, credits };
  const receipt = receiptOf(book, request, { metadata, nowMs });
  if (request.amount > bookable(money, receipt.limits)) return decline("balance_overflow");
  const changes = resolveHold(money, receipt, {
    state: "settled",
    captured: request.amount,
    actual: request.amount,
    kind: TRANSFER_KINDS.charge,
    transferId: request.chargeId,
    resolution: { facts: request.outcome, metadata: undefined },
    nowMs,
  });
  const result = { balances: balancesOf(changes.wallet), replayed: false, receiptId: request.receiptId };
  return { result, changes };
};

/** Returns why the request is declined whatever the book holds. */
function declineReasonOf(request: ChargeCommand): LedgerErrorCode | undefined {
  const { walletId, chargeId, keyId, scopes, receiptId, amount } = request;
  if (![walletId, chargeId, keyId].every(isId) || !isHoldId(receiptId)) return "invalid_id";
  if (scopes && !areScopes(scopes)) return "invalid_scope";
  if (!isAmount(amount) || amount === 0n) return "invalid_amount";
  return areRequestFacts(request.facts) && areOutcomeFacts(request.outcome) ? undefined : "invalid_facts";
}

/** The decision of a charge that was booked before. Without its receipt, only the amount is compared. */
function replayCharge(
  { postings, holds }: Book,
  wallet: Wallet,
  { chargeId, keyId, amount }: ChargeCommand,
): Decision<ChargePosting> | undefined {
  const stored = postings.get(postingKey(TRANSFER_KINDS.charge, chargeId));
  if (stored?.holdId === undefined) return undefined;
  const receipt = holds.get(stored.holdId);
  const isSame = stored.amount === amount && (receipt === undefined || receipt.keyId === keyId);
  if (!isSame) return decline("conflict");
  return { result: { balances: balancesOf(wallet), replayed: true, receiptId: stored.holdId } };
}

/** The receipt of a charge: a hold of 0 that is settled at once. `ttlMs` 0 distinguishes it from holds. */
function receiptOf(
  book: Book,
  request: ChargeCommand,
  { metadata, nowMs }: { readonly metadata: string | undefined; readonly nowMs: number },
): Hold {
  return {
    holdId: request.receiptId,
    keyId: request.keyId,
    scopes: request.scopes ?? NO_SCOPES,
    state: "held",
    late: false,
    requested: 0n,
    minimum: 0n,
    granted: 0n,
    accrued: 0n,
    actual: undefined,
    captured: 0n,
    refunded: 0n,
    ttlMs: 0,
    createdAtMs: nowMs,
    expiresAtMs: nowMs,
    resolvedAtMs: undefined,
    limits: limitsOf(book, request, nowMs).map(({ key }) => key),
    facts: request.facts,
    metadata,
  };
}
