import type { ExtendRequest, HoldGrant, HoldRequest, LedgerErrorCode } from "../ledger.ts";
import { balancesOf, type CounterKey, type Hold } from "./book.ts";
import { decline, type Rule } from "./command.ts";
import { takenAtMs } from "./credits.ts";
import { type BoundLimit, declineForHeadroom, type Headroom, headroomOf, limitsOf } from "./headroom.ts";
import { changeCounters, type Money } from "./resolve.ts";
import { expireDue, mergeChanges } from "./settle.ts";
import { NO_SCOPES, printScopes } from "./spender.ts";
import {
  areRequestFacts,
  areScopes,
  isAmount,
  isFresh,
  isHoldId,
  isId,
  isSameMetadata,
  isTtl,
  printMetadata,
} from "./validate.ts";

/**
 * Reserves the smaller of `amount` and the headroom of wallet and limits. Declines, in order: `invalid_id`,
 * `invalid_scope`, `invalid_amount`, `invalid_facts`, `invalid_metadata`, `wallet_not_found`, `conflict` (the id was used with
 * other parameters), `invalid_id` (the id's time is more than a day off), `wallet_frozen`,
 * `spending_limit_exceeded`, `balance_on_hold` (enough without the open holds), `insufficient_balance`.
 *
 * Before one of the last three, the wallet's due holds are expired. If the hold is declined nevertheless,
 * those expiries are not stored.
 */
export const hold: Rule<HoldRequest, HoldGrant> = (book, request, nowMs) => {
  const reason = declineReasonOf(request);
  if (reason) return decline(reason);
  const metadata = printMetadata(request.metadata);
  if (metadata === null) return decline("invalid_metadata");
  const { wallet } = book;
  if (!wallet) return decline("wallet_not_found");

  const stored = book.holds.get(request.holdId);
  if (stored) {
    if (!isSame(stored, request, metadata)) return decline("conflict");
    return { result: { granted: stored.granted, balances: balancesOf(wallet), replayed: true } };
  }
  if (!isFresh(request.holdId, nowMs)) return decline("invalid_id");
  if (wallet.state === "frozen") return decline("wallet_frozen");

  const { counters, credits } = book;
  const money = { wallet, counters, credits };
  const limits = limitsOf(book, request, nowMs);
  const headroom = headroomOf(money, limits);
  if (headroom.least >= request.minimum) return grant(money, request, { limits, metadata, nowMs, headroom });

  const expired = expireDue(book, money, nowMs);
  if (!expired) return declineForHeadroom(headroom, request.minimum);
  const headroomAfter = headroomOf(expired.after, limits);
  if (headroomAfter.least < request.minimum) return declineForHeadroom(headroomAfter, request.minimum);
  const granted = grant(expired.after, request, { limits, metadata, nowMs, headroom: headroomAfter });
  return { result: granted.result, changes: mergeChanges(expired.changes, granted.changes) };
};

/** Returns why the request is declined whatever the book holds. */
function declineReasonOf(request: HoldRequest): LedgerErrorCode | undefined {
  if (!isId(request.walletId) || !isHoldId(request.holdId) || !isId(request.keyId)) return "invalid_id";
  if (request.scopes && !areScopes(request.scopes)) return "invalid_scope";
  const isBounded = isAmount(request.amount) && isAmount(request.minimum);
  if (!isBounded || request.minimum > request.amount || !isTtl(request.ttlMs)) return "invalid_amount";
  return areRequestFacts(request.facts) ? undefined : "invalid_facts";
}

function isSame(stored: Hold, request: HoldRequest, metadata: string | undefined): boolean {
  return (
    stored.requested === request.amount &&
    stored.minimum === request.minimum &&
    stored.keyId === request.keyId &&
    printScopes(stored.scopes) === printScopes(request.scopes) &&
    stored.ttlMs === request.ttlMs &&
    stored.facts.surface === request.facts.surface &&
    stored.facts.model === request.facts.model &&
    isSameMetadata(stored.metadata, metadata)
  );
}

const NO_KEYS: readonly CounterKey[] = [];

function grant(
  money: Money,
  request: HoldRequest,
  {
    limits,
    metadata,
    nowMs,
    headroom,
  }: {
    readonly limits: readonly BoundLimit[];
    readonly metadata: string | undefined;
    readonly nowMs: number;
    readonly headroom: Headroom;
  },
) {
  const granted = headroom.least < request.amount ? headroom.least : request.amount;
  const createdAtMs = money.wallet.isMixed ? takenAtMs(money.credits, nowMs) : nowMs;
  const newestHoldMs = Math.max(money.wallet.newestHoldMs, createdAtMs);
  const wallet = { ...money.wallet, held: money.wallet.held + granted, newestHoldMs };
  const keys = limits.length === 0 ? NO_KEYS : limits.map(({ key }) => key);
  const taken: Hold = {
    holdId: request.holdId,
    keyId: request.keyId,
    scopes: request.scopes ?? NO_SCOPES,
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
    createdAtMs,
    expiresAtMs: nowMs + request.ttlMs,
    resolvedAtMs: undefined,
    limits: keys,
    facts: request.facts,
    metadata,
  };
  const counters = changeCounters(money, keys, { booked: 0n, reserved: granted });
  const result = { granted, balances: balancesOf(wallet), replayed: false };
  return { result, changes: { wallet, holds: [taken], counters } };
}

/**
 * A heartbeat. Never lowers the accrued amount and never shortens a hold's life; a hold past its time that
 * is not expired yet lives on. Declines, in order: `invalid_id`, `invalid_amount`, `wallet_not_found`,
 * `hold_not_found`, `hold_settled` / `hold_released` / `hold_expired`.
 */
export const extend: Rule<ExtendRequest, undefined> = (book, request, nowMs) => {
  if (!isId(request.walletId) || !isHoldId(request.holdId)) return decline("invalid_id");
  if (!isAmount(request.accrued) || !isTtl(request.ttlMs)) return decline("invalid_amount");
  if (!book.wallet) return decline("wallet_not_found");
  const hold = book.holds.get(request.holdId);
  if (!hold) return decline("hold_not_found");
  if (hold.state !== "held") return decline(`hold_${hold.state}`);

  const accrued = request.accrued > hold.accrued ? request.accrued : hold.accrued;
  const expiresAtMs = Math.max(hold.expiresAtMs, nowMs + request.ttlMs);
  if (accrued === hold.accrued && expiresAtMs === hold.expiresAtMs) return { result: undefined };
  return { result: undefined, changes: { holds: [{ ...hold, accrued, expiresAtMs }] } };
};
