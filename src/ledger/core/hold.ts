import type { HoldGrant, HoldRequest, LedgerRefusal } from "../ledger.ts";
import { balancesOf, type Hold } from "./book.ts";
import { expireDue, join } from "./expire.ts";
import { areRequestFacts } from "./facts.ts";
import { type BoundLimit, limitsOf, type Room, readRoom, shortage } from "./headroom.ts";
import { isSameMetadata, printMetadata } from "./metadata.ts";
import { type Rule, refuse } from "./outcome.ts";
import { counterOf, type Money } from "./resolve.ts";
import { isAmount, isFresh, isHoldId, isId, isTtl } from "./validate.ts";

/**
 * Reserves the smaller of `amount` and what wallet and limits allow. In order: `invalid_id`,
 * `invalid_amount`, `invalid_facts`, `invalid_metadata`, `wallet_not_found`, `conflict` (the id is taken),
 * `invalid_id` (the id's time is more than a day off), `wallet_frozen`, `spending_limit_exceeded`,
 * `balance_on_hold` (enough but for what is held), `insufficient_balance`. Before the last three the
 * wallet's due holds are expired; a hold that is refused all the same stores nothing.
 */
export const hold: Rule<HoldRequest, HoldGrant> = (book, request, nowMs) => {
  const invalid = refusalOf(request);
  if (invalid) return refuse(invalid);
  const metadata = printMetadata(request.metadata);
  if (metadata === null) return refuse("invalid_metadata");
  const { wallet } = book;
  if (!wallet) return refuse("wallet_not_found");

  const stored = book.holds.get(request.holdId);
  if (stored) {
    if (!isSame(stored, request, metadata)) return refuse("conflict");
    return { answer: { granted: stored.granted, balances: balancesOf(wallet), replayed: true } };
  }
  if (!isFresh(request.holdId, nowMs)) return refuse("invalid_id");
  if (wallet.state === "frozen") return refuse("wallet_frozen");

  const money = { wallet, counters: book.counters };
  const limits = limitsOf(book, request.keyId, nowMs);
  const room = readRoom(money, limits);
  if (room.least >= request.minimum) return grant(money, request, { limits, metadata, nowMs, room });

  const expired = expireDue(book, money, nowMs);
  if (!expired) return shortage(room, request.minimum);
  const roomAfter = readRoom(expired.after, limits);
  if (roomAfter.least < request.minimum) return shortage(roomAfter, request.minimum);
  const granted = grant(expired.after, request, { limits, metadata, nowMs, room: roomAfter });
  return { answer: granted.answer, changes: join(expired.changes, granted.changes) };
};

function refusalOf(request: HoldRequest): LedgerRefusal | undefined {
  if (!isId(request.walletId) || !isHoldId(request.holdId) || !isId(request.keyId)) return "invalid_id";
  const isBounded = isAmount(request.amount) && isAmount(request.minimum);
  if (!isBounded || request.minimum > request.amount || !isTtl(request.ttlMs)) return "invalid_amount";
  return areRequestFacts(request.facts) ? undefined : "invalid_facts";
}

function isSame(stored: Hold, request: HoldRequest, metadata: string | undefined): boolean {
  return (
    stored.requested === request.amount &&
    stored.minimum === request.minimum &&
    stored.keyId === request.keyId &&
    stored.ttlMs === request.ttlMs &&
    stored.facts.surface === request.facts.surface &&
    stored.facts.model === request.facts.model &&
    isSameMetadata(stored.metadata, metadata)
  );
}

function grant(
  money: Money,
  request: HoldRequest,
  at: {
    readonly limits: readonly BoundLimit[];
    readonly metadata: string | undefined;
    readonly nowMs: number;
    readonly room: Room;
  },
) {
  const granted = at.room.least < request.amount ? at.room.least : request.amount;
  const wallet = { ...money.wallet, held: money.wallet.held + granted };
  const keys = at.limits.map(({ key }) => key);
  const taken: Hold = {
    holdId: request.holdId,
    keyId: request.keyId,
    state: "held",
    late: false,
    requested: request.amount,
    minimum: request.minimum,
    granted,
    accrued: 0n,
    actual: undefined,
    captured: 0n,
    refunded: 0n,
    ttlMs: request.ttlMs,
    createdAtMs: at.nowMs,
    expiresAtMs: at.nowMs + request.ttlMs,
    resolvedAtMs: undefined,
    limits: keys,
    facts: request.facts,
    metadata: at.metadata,
  };
  const counters = keys.map((key) => {
    const counter = counterOf(money, key);
    return { ...counter, held: counter.held + granted };
  });
  const answer = { granted, balances: balancesOf(wallet), replayed: false };
  return { answer, changes: { wallet, holds: [taken], counters } };
}
