import type { ReleaseRequest, Settlement, SettleRequest } from "../ledger.ts";
import type { OutcomeFacts } from "../records.ts";
import { type Book, type Changes, type Counter, counterKey, type Hold, TRANSFER_KINDS } from "./book.ts";
import { decline, type ExpireRequest, type Rule } from "./command.ts";
import {
  bookable,
  decideResolution,
  type HoldTransition,
  type Money,
  replaySettlement,
  resolveHold,
  withHold,
} from "./resolve.ts";
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

/**
 * Ends a hold that is past its time: captures the accrued amount and frees the rest. A hold that is not
 * open, or was extended meanwhile, stays unchanged. A hold taken while the clock ran ahead now expires
 * `ttlMs` from now. Declines `wallet_not_found` and `hold_not_found` only.
 */
export const expire: Rule<ExpireRequest, Settlement> = (book, request, nowMs) =>
  withHold(book, request, (hold, money) => {
    if (isDue(hold, nowMs)) return decideResolution(money, hold, expiryOf(money, hold, nowMs));
    const unchanged = replaySettlement(hold, money.wallet);
    if (!isAhead(hold, nowMs)) return unchanged;
    return { ...unchanged, changes: { holds: [{ ...hold, expiresAtMs: nowMs + hold.ttlMs }] } };
  });

/** Expires the due holds of a book one after the other. Returns `undefined` when no hold is due. */
export function expireDue(
  book: Book,
  money: Money,
  nowMs: number,
): { readonly after: Money; readonly changes: Changes } | undefined {
  let after = money;
  let changes: Changes | undefined;
  for (const holdId of book.dueHoldIds) {
    const due = book.holds.get(holdId);
    if (!due || !isDue(due, nowMs)) continue;
    const expired = resolveHold(after, due, expiryOf(after, due, nowMs));
    after = { wallet: expired.wallet, counters: withCounters(after.counters, expired.counters ?? []) };
    changes = changes ? mergeChanges(changes, expired) : expired;
  }
  return changes && { after, changes };
}

/** Whether a hold is open past its time. */
function isDue(hold: Hold, nowMs: number): boolean {
  return hold.state === "held" && hold.expiresAtMs <= nowMs;
}

/** Clocks of processes that share a database may differ by this much. */
export const CLOCK_SKEW_MAX_MS = 60_000;

/**
 * Whether an open hold was taken while the clock ran ahead, before the clock was corrected. Its expiry time
 * may be years away.
 */
function isAhead(hold: Hold, nowMs: number): boolean {
  return (
    hold.state === "held" &&
    hold.createdAtMs > nowMs + CLOCK_SKEW_MAX_MS &&
    hold.expiresAtMs > nowMs + hold.ttlMs
  );
}

/** The transition of an expiring hold. Clamps the accrued amount to {@link bookable}: expiry never fails. */
function expiryOf(money: Money, hold: Hold, nowMs: number): HoldTransition {
  const most = bookable(money, hold.limits);
  const captured = hold.accrued < most ? hold.accrued : most;
  const facts: OutcomeFacts = {
    outcome: "internal_error",
    source: "expired",
    totalMs: nowMs - hold.createdAtMs,
    attempts: [],
  };
  const kind = TRANSFER_KINDS.expiryCapture;
  return { state: "expired", captured, kind, resolution: { facts, metadata: undefined }, nowMs };
}

function withCounters(counters: ReadonlyMap<string, Counter>, changed: readonly Counter[]) {
  return new Map([...counters, ...changed.map((counter) => [counterKey(counter), counter] as const)]);
}

/** Merges two changes. `second` was decided on the book after `first`, so its rows win. */
export function mergeChanges(first: Changes, second: Changes): Changes {
  return {
    ...first,
    ...second,
    holds: [...(first.holds ?? []), ...(second.holds ?? [])],
    counters: [...(first.counters ?? []), ...(second.counters ?? [])],
    resolutions: [...(first.resolutions ?? []), ...(second.resolutions ?? [])],
    transfers: [...(first.transfers ?? []), ...(second.transfers ?? [])],
  };
}
