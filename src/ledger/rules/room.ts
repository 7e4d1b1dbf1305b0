import type { Nanos } from "../../domain/money.ts";
import { type Book, balancesOf, type Counter, type LimitPeriodKey, type Wallet } from "../book.ts";
import type { LedgerRefusal, SpendLimit } from "../ledger.ts";
import { periodStart } from "../period.ts";
import { counterOf } from "./resolve.ts";

/** The money part of a book, which each step of a decision passes on to the next. */
export interface Money {
  readonly wallet: Wallet;
  readonly counters: ReadonlyMap<string, Counter>;
}

/** A limit that binds a hold, in the period the hold would be taken in. */
export interface BoundLimit {
  readonly limit: SpendLimit;
  readonly key: LimitPeriodKey;
}

/** How much a hold could have. `ofLimits` is `undefined` without limits. */
export interface Room {
  readonly least: Nanos;
  readonly ofLimits: Nanos | undefined;
  /** What the wallet would have were nothing held. */
  readonly unheld: Nanos;
}

/** The limits of a key and of the whole wallet. */
export function limitsOf(book: Book, keyId: string, nowMs: number): readonly BoundLimit[] {
  const bound: BoundLimit[] = [];
  for (const limit of book.limits.values()) {
    if (limit.keyId !== undefined && limit.keyId !== keyId) continue;
    const key = { limitId: limit.limitId, periodStartMs: periodStart(limit.period, nowMs) };
    bound.push({ limit, key });
  }
  return bound;
}

export function readRoom(money: Money, limits: readonly BoundLimit[]): Room {
  const { available, held } = balancesOf(money.wallet);
  let ofLimits: Nanos | undefined;
  for (const { limit, key } of limits) {
    const { used, held: heldByLimit } = counterOf(money, key);
    const left = limit.amount - used - heldByLimit;
    if (ofLimits === undefined || left < ofLimits) ofLimits = left;
  }
  const least = ofLimits !== undefined && ofLimits < available ? ofLimits : available;
  return { least, ofLimits, unheld: available + held };
}

/** Why a room is too small for `minimum`: a limit comes before the wallet. */
export function shortage(room: Room, minimum: Nanos): LedgerRefusal {
  if (room.ofLimits !== undefined && room.ofLimits < minimum) return "spending_limit_exceeded";
  return room.unheld >= minimum ? "balance_on_hold" : "insufficient_balance";
}
