import type { Nanos } from "../../domain/money.ts";
import type { ReleaseRequest, Settlement, SettleRequest, TakenHold } from "../ledger.ts";
import type { OutcomeFacts } from "../records.ts";
import {
  type Book,
  balancesOf,
  CAPTURE_KINDS,
  type Changes,
  CLOCK_SKEW_MAX_MS,
  Counters,
  type CountersRead,
  type Hold,
  postingKey,
  TRANSFER_KINDS,
} from "./book.ts";
import { type Decision, decline, type ExpireRequest, type Rule } from "./command.ts";
import { withCredits } from "./credits.ts";
import { limitsOf } from "./headroom.ts";
import {
  bookable,
  decideResolution,
  type HoldTransition,
  type Money,
  replaySettlement,
  resolveHold,
  withHold,
} from "./resolve.ts";
import { NO_SCOPES } from "./spender.ts";
import {
  areOutcomeFacts,
  isAmount,
  isFresh,
  isHoldId,
  isId,
  printMetadata,
  reasonAgainst,
} from "./validate.ts";

/**
 * Books the actual cost of a hold and frees the rest. Declines, in order: `invalid_id`, `invalid_amount`,
 * `invalid_facts`, those of an invalid description, `invalid_metadata`, `wallet_not_found`, `hold_not_found`,
 * `hold_released`, `conflict` (settled with another amount), `balance_overflow`. After an expiry, books only the
 * excess over the amount that the expiry captured, and at least 0. A lost hold that the request describes counts as
 * expired.
 */
export const settle: Rule<SettleRequest, Settlement> = (book, request, nowMs) => {
  const { facts, amount, taken } = request;
  if (!isId(request.walletId) || !isHoldId(request.holdId)) return decline("invalid_id");
  if (!isAmount(amount)) return decline("invalid_amount");
  if (!areOutcomeFacts(facts)) return decline("invalid_facts");
  const reason = taken && reasonAgainst(taken);
  if (reason) return decline(reason);
  const metadata = printMetadata(request.metadata);
  if (metadata === null) return decline("invalid_metadata");
  const isRepeated = (captured: Nanos) => captured >= amount;
  return endHold(book, request, { state: "settled", isRepeated, nowMs }, (hold, money) => {
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
 * Frees the whole hold. Declines, in order: `invalid_id`, `invalid_facts`, those of an invalid description,
 * `invalid_metadata`, `wallet_not_found`, `hold_not_found`, `hold_settled`. After an expiry it changes nothing and
 * returns the amount that the expiry captured. A lost hold that the request describes gets its receipt.
 */
export const release: Rule<ReleaseRequest, Settlement> = (book, request, nowMs) => {
  const { facts, taken } = request;
  if (!isId(request.walletId) || !isHoldId(request.holdId)) return decline("invalid_id");
  if (!areOutcomeFacts(facts)) return decline("invalid_facts");
  const reason = taken && reasonAgainst(taken);
  if (reason) return decline(reason);
  const metadata = printMetadata(request.metadata);
  if (metadata === null) return decline("invalid_metadata");
  const isRepeated = (captured: Nanos) => captured === 0n;
  return endHold(book, request, { state: "released", isRepeated, nowMs }, (hold, money) => {
    if (hold.state === "settled") return decline("hold_settled");
    const isInBook = book.holds.has(hold.holdId);
    if (hold.state !== "held" && isInBook) return replaySettlement(hold, money.wallet);
    const kind = TRANSFER_KINDS.settlement;
    const resolution = { facts, metadata };
    return decideResolution(money, hold, { state: "released", captured: 0n, kind, resolution, nowMs });
  });
};

/** How a command ends a hold, and whether what the hold's transfers have captured shows that it has ended it before. */
interface End {
  readonly state: "settled" | "released";
  readonly isRepeated: (captured: Nanos) => boolean;
  readonly nowMs: number;
}

/**
 * Applies a rule to the hold that a command ends, or to a lost one that the command describes. Its id must be at most
 * a day old, because retention may have dropped older receipts. Then the transfers, which stay for ever, show whether
 * the command is a repetition.
 */
function endHold(
  book: Book,
  request: Pick<ReleaseRequest, "holdId" | "taken">,
  { state, isRepeated, nowMs }: End,
  rule: (hold: Hold, money: Money) => Decision<Settlement>,
): Decision<Settlement> {
  const { wallet, counters, holds, credits } = book;
  if (!wallet) return decline("wallet_not_found");
  const { holdId, taken } = request;
  const hold = holds.get(holdId);
  if (hold) return rule(hold, { wallet, counters, credits });
  if (!taken) return decline("hold_not_found");
  const captured = capturedFrom(book, holdId);
  if (captured === 0n && isFresh(holdId, nowMs)) {
    return rule(lostHoldOf(book, { holdId, taken }, nowMs), { wallet, counters, credits });
  }
  if (!isRepeated(captured)) return decline("hold_not_found");
  return { result: { state, captured, balances: balancesOf(wallet), replayed: true } };
}

function capturedFrom({ postings }: Book, holdId: string): Nanos {
  const amounts = CAPTURE_KINDS.map((kind) => postings.get(postingKey(kind, holdId))?.amount ?? 0n);
  return amounts.reduce((sum, amount) => sum + amount);
}

/**
 * Returns a lost hold as the command that ends it describes it: expired without a capture, because nothing is reserved
 * for it any more. It counts against the limits in force now.
 */
function lostHoldOf(
  book: Book,
  { holdId, taken }: { readonly holdId: string; readonly taken: TakenHold },
  nowMs: number,
): Hold {
  const { keyId, scopes = NO_SCOPES, granted, ttlMs, facts } = taken;
  return {
    holdId,
    keyId,
    scopes,
    state: "expired",
    late: false,
    requested: granted,
    minimum: granted,
    granted,
    accrued: 0n,
    actual: undefined,
    captured: 0n,
    refunded: 0n,
    ttlMs,
    createdAtMs: nowMs,
    expiresAtMs: nowMs,
    resolvedAtMs: undefined,
    limits: limitsOf(book, taken, nowMs).map(({ key }) => key),
    facts,
    metadata: undefined,
  };
}

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
  const changed = new Counters();
  const counters: CountersRead = { get: (key) => changed.get(key) ?? money.counters.get(key) };
  let after: Money = { ...money, counters };
  let changes: Changes | undefined;
  for (const holdId of book.dueHoldIds) {
    const due = book.holds.get(holdId);
    if (!due || !isDue(due, nowMs)) continue;
    const expired = resolveHold(after, due, expiryOf(after, due, nowMs));
    for (const counter of expired.counters ?? []) changed.set(counter);
    const credits = expired.credits ? withCredits(after.credits, expired.credits) : after.credits;
    after = { wallet: expired.wallet, counters, credits };
    changes = changes ? mergeChanges(changes, expired) : expired;
  }
  return changes && { after, changes };
}

/** Whether a hold is open past its time. */
function isDue(hold: Hold, nowMs: number): boolean {
  return hold.state === "held" && hold.expiresAtMs <= nowMs;
}

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

/** Merges two changes. `second` was decided on the book after `first`, so its rows win. */
export function mergeChanges(first: Changes, second: Changes): Changes {
  return {
    ...first,
    ...second,
    holds: [...(first.holds ?? []), ...(second.holds ?? [])],
    counters: [...(first.counters ?? []), ...(second.counters ?? [])],
    resolutions: [...(first.resolutions ?? []), ...(second.resolutions ?? [])],
    transfers: [...(first.transfers ?? []), ...(second.transfers ?? [])],
    credits: [...(first.credits ?? []), ...(second.credits ?? [])],
  };
}
