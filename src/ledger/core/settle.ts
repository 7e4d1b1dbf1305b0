import type { OutcomeFacts, ReleaseRequest, Settlement, SettleRequest } from "../ledger.ts";
import { type Book, balancesOf, type Hold, TRANSFER_KINDS, type Wallet } from "./book.ts";
import type { ExpireRequest } from "./command.ts";
import { areOutcomeFacts } from "./facts.ts";
import { printMetadata } from "./metadata.ts";
import { type Outcome, type Rule, refuse } from "./outcome.ts";
import { bookable, type Money, type Resolution, resolveHold } from "./resolve.ts";
import { isAmount, isHoldId, isId } from "./validate.ts";

/**
 * Books what a request came to. In order: `invalid_id`, `invalid_amount`, `invalid_facts`,
 * `invalid_metadata`, `wallet_not_found`, `hold_not_found`, `hold_released`, `conflict` (settled with
 * another amount), `balance_overflow`. After an expiry only what the expiry had not captured is booked,
 * never less than nothing.
 */
export const settle: Rule<SettleRequest, Settlement> = (book, request, nowMs) => {
  const { facts, amount } = request;
  if (!isId(request.walletId) || !isHoldId(request.holdId)) return refuse("invalid_id");
  if (!isAmount(amount)) return refuse("invalid_amount");
  if (!areOutcomeFacts(facts)) return refuse("invalid_facts");
  const metadata = printMetadata(request.metadata);
  if (metadata === null) return refuse("invalid_metadata");
  return withHold(book, request, (hold, money) => {
    if (hold.state === "released") return refuse("hold_released");
    if (hold.state === "settled") {
      return hold.actual === amount ? replay(hold, money.wallet) : refuse("conflict");
    }
    const isLate = hold.state === "expired";
    const captured = isLate && hold.captured > amount ? hold.captured : amount;
    if (captured - hold.captured > bookable(money, hold.limits)) return refuse("balance_overflow");
    const kind = isLate ? TRANSFER_KINDS.lateSettlement : TRANSFER_KINDS.settlement;
    const ending = { facts, metadata };
    return resolve(money, hold, { state: "settled", captured, actual: amount, kind, ending, nowMs });
  });
};

/**
 * Frees a hold whole. In order: `invalid_id`, `invalid_facts`, `invalid_metadata`, `wallet_not_found`,
 * `hold_not_found`, `hold_settled`. After an expiry nothing is left to free: the answer says what the
 * expiry captured.
 */
export const release: Rule<ReleaseRequest, Settlement> = (book, request, nowMs) => {
  const { facts } = request;
  if (!isId(request.walletId) || !isHoldId(request.holdId)) return refuse("invalid_id");
  if (!areOutcomeFacts(facts)) return refuse("invalid_facts");
  const metadata = printMetadata(request.metadata);
  if (metadata === null) return refuse("invalid_metadata");
  return withHold(book, request, (hold, money) => {
    if (hold.state === "settled") return refuse("hold_settled");
    if (hold.state !== "held") return replay(hold, money.wallet);
    const kind = TRANSFER_KINDS.settlement;
    const ending = { facts, metadata };
    return resolve(money, hold, { state: "released", captured: 0n, kind, ending, nowMs });
  });
};

/**
 * Ends a hold whose time is up: what was accrued is captured, the rest is free. A hold that is not
 * open, or was extended meanwhile, stays as it is. One that was taken under a clock which ran ahead gets its time
 * to live from now on. Refuses `wallet_not_found` and `hold_not_found` only.
 */
export const expire: Rule<ExpireRequest, Settlement> = (book, request, nowMs) =>
  withHold(book, request, (hold, money) => {
    if (isDue(hold, nowMs)) return resolve(money, hold, expiryOf(money, hold, nowMs));
    const unchanged = replay(hold, money.wallet);
    if (!isAhead(hold, nowMs)) return unchanged;
    return { ...unchanged, changes: { holds: [{ ...hold, expiresAtMs: nowMs + hold.ttlMs }] } };
  });

/** Whether a hold is open past its time. */
export function isDue(hold: Hold, nowMs: number): boolean {
  return hold.state === "held" && hold.expiresAtMs <= nowMs;
}

/** How far the clocks of processes that share books may be apart. */
export const CLOCKS_APART_MS = 60_000;

/**
 * Whether an open hold was taken under a clock that ran ahead and was put right since: its time is up only when
 * that wrong hour comes, which may be years away.
 */
function isAhead(hold: Hold, nowMs: number): boolean {
  return (
    hold.state === "held" &&
    hold.createdAtMs > nowMs + CLOCKS_APART_MS &&
    hold.expiresAtMs > nowMs + hold.ttlMs
  );
}

/** What an expiry makes of a hold. Captures what can be kept of an absurd accrual: it must always be possible. */
export function expiryOf(money: Money, hold: Hold, nowMs: number): Resolution {
  const most = bookable(money, hold.limits);
  const captured = hold.accrued < most ? hold.accrued : most;
  const facts: OutcomeFacts = {
    outcome: "internal_error",
    source: "expired",
    totalMs: nowMs - hold.createdAtMs,
    attempts: [],
  };
  const kind = TRANSFER_KINDS.expiryCapture;
  return { state: "expired", captured, kind, ending: { facts, metadata: undefined }, nowMs };
}

function withHold(
  { wallet, holds, counters }: Book,
  { holdId }: { readonly holdId: string },
  rule: (hold: Hold, money: Money) => Outcome<Settlement>,
): Outcome<Settlement> {
  if (!wallet) return refuse("wallet_not_found");
  const hold = holds.get(holdId);
  return hold ? rule(hold, { wallet, counters }) : refuse("hold_not_found");
}

function resolve(money: Money, hold: Hold, resolution: Resolution): Outcome<Settlement> {
  const changes = resolveHold(money, hold, resolution);
  const { state, captured } = resolution;
  return { answer: { state, captured, balances: balancesOf(changes.wallet), replayed: false }, changes };
}

function replay(hold: Hold, wallet: Wallet): Outcome<Settlement> {
  const { state, captured } = hold;
  return { answer: { state, captured, balances: balancesOf(wallet), replayed: true } };
}
