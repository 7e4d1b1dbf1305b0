import type { ChargePosting, LedgerRefusal } from "../ledger.ts";
import { type Book, balancesOf, type Hold, postingKey, TRANSFER_KINDS, type Wallet } from "./book.ts";
import type { ChargeCommand } from "./command.ts";
import { areOutcomeFacts, areRequestFacts } from "./facts.ts";
import { limitsOf } from "./headroom.ts";
import { printMetadata } from "./metadata.ts";
import { type Outcome, type Rule, refuse } from "./outcome.ts";
import { bookable, resolveHold } from "./resolve.ts";
import { isAmount, isHoldId, isId } from "./validate.ts";

/**
 * Books a cost without a hold, whatever the wallet has and its limits allow, also on a frozen wallet. In
 * order: `invalid_id`, `invalid_amount` (also zero), `invalid_facts`, `invalid_metadata`,
 * `wallet_not_found`, `conflict` (the id named another amount or key), `balance_overflow`.
 */
export const charge: Rule<ChargeCommand, ChargePosting> = (book, request, nowMs) => {
  const invalid = refusalOf(request);
  if (invalid) return refuse(invalid);
  const metadata = printMetadata(request.metadata);
  if (metadata === null) return refuse("invalid_metadata");
  const { wallet, counters } = book;
  if (!wallet) return refuse("wallet_not_found");
  const replayed = replay(book, wallet, request);
  if (replayed) return replayed;

  const money = { wallet, counters };
  const receipt = receiptOf(book, request, { metadata, nowMs });
  if (request.amount > bookable(money, receipt.limits)) return refuse("balance_overflow");
  const changes = resolveHold(money, receipt, {
    state: "settled",
    captured: request.amount,
    actual: request.amount,
    kind: TRANSFER_KINDS.charge,
    transferId: request.chargeId,
    ending: { facts: request.outcome, metadata: undefined },
    nowMs,
  });
  const answer = { balances: balancesOf(changes.wallet), replayed: false, receiptId: request.receiptId };
  return { answer, changes };
};

function refusalOf(request: ChargeCommand): LedgerRefusal | undefined {
  const { walletId, chargeId, keyId, receiptId, amount } = request;
  if (![walletId, chargeId, keyId].every(isId) || !isHoldId(receiptId)) return "invalid_id";
  if (!isAmount(amount) || amount === 0n) return "invalid_amount";
  return areRequestFacts(request.facts) && areOutcomeFacts(request.outcome) ? undefined : "invalid_facts";
}

/** What a charge that was booked before comes to. Where its receipt is no longer kept, the amount decides. */
function replay(
  { postings, holds }: Book,
  wallet: Wallet,
  { chargeId, keyId, amount }: ChargeCommand,
): Outcome<ChargePosting> | undefined {
  const stored = postings.get(postingKey(TRANSFER_KINDS.charge, chargeId));
  if (stored?.holdId === undefined) return undefined;
  const receipt = holds.get(stored.holdId);
  const isSame = stored.amount === amount && (receipt === undefined || receipt.keyId === keyId);
  if (!isSame) return refuse("conflict");
  return { answer: { balances: balancesOf(wallet), replayed: true, receiptId: stored.holdId } };
}

/** The receipt of a charge: a hold of nothing, about to be settled. A hold proper lives longer than 0 ms. */
function receiptOf(
  book: Book,
  request: ChargeCommand,
  { metadata, nowMs }: { readonly metadata: string | undefined; readonly nowMs: number },
): Hold {
  return {
    holdId: request.receiptId,
    keyId: request.keyId,
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
    limits: limitsOf(book, request.keyId, nowMs).map(({ key }) => key),
    facts: request.facts,
    metadata,
  };
}
