import type { Nanos } from "../../domain/money.ts";
import { type Book, balancesOf, type LimitPeriodKey } from "../book.ts";
import type { LedgerRefusal, SpendLimit } from "../ledger.ts";
import { periodStart } from "../period.ts";
import { counterOf, type Money } from "./resolve.ts";

/** A limit that binds a hold or charge, in the period it would be taken in. */
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

/** The limits in force of a key and of the whole wallet, by id: in whatever order they were read. */
export function limitsOf(book: Book, keyId: string, nowMs: number): readonly BoundLimit[] {
  const bound: BoundLimit[] = [];
  for (const limit of book.limits.values()) {
    if (limit.keyId !== undefined && limit.keyId !== keyId) continue;
    if (limit.deletedAtMs !== undefined) continue;
    const periodStartMs = periodStart(limit.period, nowMs, limit.timeZone);
    bound.push({ limit, key: { limitId: limit.limitId, periodStartMs } });
  }
  return bound.length > 1
    ? bound.sort((one, other) => (one.key.limitId < other.key.limitId ? -1 : 1))
    : bound;
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
