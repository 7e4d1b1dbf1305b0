import type { Nanos } from "../../domain/money.ts";
import type { Shortfall, SpendLimit } from "../ledger.ts";
import { type Book, balancesOf, type LimitPeriodKey } from "./book.ts";
import type { Declined } from "./outcome.ts";
import { periodStart } from "./period.ts";
import { counterOf, type Money } from "./resolve.ts";

/** A limit that binds a hold or charge, in the period it would be taken in. */
export interface BoundLimit {
  readonly limit: SpendLimit;
  readonly key: LimitPeriodKey;
}

/** How much a hold could have: the least of both parts. */
export interface Room {
  readonly least: Nanos;
  readonly ofWallet: Part;
  /** The least of all limits; `undefined` without limits. */
  readonly ofLimits: Part | undefined;
}

/** What is left now, and what would be left were nothing held; below zero when overdrawn. */
interface Part {
  readonly left: Nanos;
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
  let ofLimits: Part | undefined;
  for (const { limit, key } of limits) {
    const { used, held: heldByLimit } = counterOf(money, key);
    const unheld = limit.amount - used;
    ofLimits = leastOf(ofLimits, { left: unheld - heldByLimit, unheld });
  }
  const least = ofLimits !== undefined && ofLimits.left < available ? ofLimits.left : available;
  return { least, ofWallet: { left: available, unheld: available + held }, ofLimits };
}

function leastOf(one: Part | undefined, other: Part): Part {
  if (one === undefined) return other;
  return {
    left: one.left < other.left ? one.left : other.left,
    unheld: one.unheld < other.unheld ? one.unheld : other.unheld,
  };
}

/** Why a room is too small for `minimum`: a limit comes before the wallet. */
export function shortage({ ofLimits, ofWallet }: Room, minimum: Nanos): Declined {
  if (ofLimits !== undefined && ofLimits.left < minimum) {
    return { refusal: "spending_limit_exceeded", shortfall: shortfallOf(ofLimits, minimum) };
  }
  const refusal = ofWallet.unheld >= minimum ? "balance_on_hold" : "insufficient_balance";
  return { refusal, shortfall: shortfallOf(ofWallet, minimum) };
}

/** What is overdrawn has nothing left. */
function shortfallOf({ left, unheld }: Part, needed: Nanos): Shortfall {
  return { needed, available: left > 0n ? left : 0n, unheld: unheld > 0n ? unheld : 0n };
}
