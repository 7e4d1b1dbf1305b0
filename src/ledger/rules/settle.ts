import { type Book, balancesOf, type Hold, TRANSFER_KINDS, type Wallet } from "../book.ts";
import type { ExpireRequest } from "../command.ts";
import type { OutcomeFacts, ReleaseRequest, Settlement, SettleRequest } from "../ledger.ts";
import { isAmount, isId } from "./check.ts";
import { type Outcome, type Rule, refuse } from "./outcome.ts";
import { type Resolution, resolveHold } from "./resolve.ts";

/**
 * Books what a request came to. In order: `invalid_id`, `invalid_amount`, `wallet_not_found`,
 * `hold_not_found`, `hold_released`, `conflict` (settled with another amount), `balance_overflow`.
 * After an expiry only what the expiry had not captured is booked, never less than nothing.
 */
export const settle: Rule<SettleRequest, Settlement> = (book, request, nowMs) => {
  if (!isId(request.walletId) || !isId(request.holdId)) return refuse("invalid_id");
  if (!isAmount(request.amount)) return refuse("invalid_amount");
  return withHold(book, request, (hold, wallet) => {
    if (hold.state === "released") return refuse("hold_released");
    if (hold.state === "settled") {
      return hold.actual === request.amount ? replay(hold, wallet) : refuse("conflict");
    }
    const isLate = hold.state === "expired";
    return resolve(book, hold, {
      state: "settled",
      captured: isLate && hold.captured > request.amount ? hold.captured : request.amount,
      actual: request.amount,
      kind: isLate ? TRANSFER_KINDS.lateSettlement : TRANSFER_KINDS.settlement,
      facts: request.facts,
      nowMs,
    });
  });
};

/**
 * Frees a hold whole. In order: `invalid_id`, `wallet_not_found`, `hold_not_found`, `hold_settled`.
 * After an expiry nothing is left to free: the answer says what the expiry captured.
 */
export const release: Rule<ReleaseRequest, Settlement> = (book, request, nowMs) => {
  if (!isId(request.walletId) || !isId(request.holdId)) return refuse("invalid_id");
  return withHold(book, request, (hold, wallet) => {
    if (hold.state === "settled") return refuse("hold_settled");
    if (hold.state !== "held") return replay(hold, wallet);
    return resolve(book, hold, {
      state: "released",
      captured: 0n,
      kind: TRANSFER_KINDS.settlement,
      facts: request.facts,
      nowMs,
    });
  });
};

/**
 * Ends a hold whose time is up: what was accrued is captured, the rest is free. A hold that is not
 * open, or was extended meanwhile, stays as it is.
 */
export const expire: Rule<ExpireRequest, Settlement> = (book, request, nowMs) =>
  withHold(book, request, (hold, wallet) =>
    isDue(hold, nowMs) ? resolve(book, hold, expiryOf(hold, nowMs)) : replay(hold, wallet),
  );

/** Whether a hold is open past its time. */
export function isDue(hold: Hold, nowMs: number): boolean {
  return hold.state === "held" && hold.expiresAtMs <= nowMs;
}

/** What an expiry makes of a hold. */
export function expiryOf(hold: Hold, nowMs: number): Resolution & { readonly nowMs: number } {
  const facts: OutcomeFacts = {
    outcome: "internal_error",
    source: "expired",
    totalMs: nowMs - hold.createdAtMs,
    attempts: [],
  };
  return { state: "expired", captured: hold.accrued, kind: TRANSFER_KINDS.expiryCapture, facts, nowMs };
}

function withHold(
  book: Book,
  { holdId }: { readonly holdId: string },
  rule: (hold: Hold, wallet: Wallet) => Outcome<Settlement>,
): Outcome<Settlement> {
  if (!book.wallet) return refuse("wallet_not_found");
  const hold = book.holds.get(holdId);
  return hold ? rule(hold, book.wallet) : refuse("hold_not_found");
}

function resolve(
  book: Book,
  hold: Hold,
  resolution: Resolution & { readonly nowMs: number },
): Outcome<Settlement> {
  if (!book.wallet) return refuse("wallet_not_found");
  const changes = resolveHold({ wallet: book.wallet, counters: book.counters }, hold, resolution);
  if (!changes) return refuse("balance_overflow");
  const { state, captured } = resolution;
  return { answer: { state, captured, balances: balancesOf(changes.wallet), replayed: false }, changes };
}

function replay(hold: Hold, wallet: Wallet): Outcome<Settlement> {
  const { state, captured } = hold;
  return { answer: { state, captured, balances: balancesOf(wallet), replayed: true } };
}
