import type { Nanos } from "../../domain/money.ts";
import { periodStart } from "../../domain/period.ts";
import type { Shortfall } from "../ledger.ts";
import type { SpendLimit } from "../records.ts";
import { type Book, balancesOf, type LimitPeriodKey } from "./book.ts";
import type { Declined } from "./command.ts";
import { counterOf, type Money } from "./resolve.ts";

/** A limit that binds a hold or charge, in the period the hold or charge would count against. */
export interface BoundLimit {
  readonly limit: SpendLimit;
  readonly key: LimitPeriodKey;
}

/** The largest amount that a hold could reserve now. */
export interface Headroom {
  /** The smaller of `wallet.left` and `limits.left`. */
  readonly least: Nanos;
  readonly wallet: Remainder;
  /** The smallest remainder of all limits; `undefined` without limits. */
  readonly limits: Remainder | undefined;
}

/** The amount left now, and the amount that would be left without open holds. Negative when overdrawn. */
interface Remainder {
  readonly left: Nanos;
  readonly unheld: Nanos;
}

const UNBOUND: readonly BoundLimit[] = [];

/** The limits in force for a key, with those of the whole wallet, sorted by id. */
export function limitsOf(book: Book, keyId: string, nowMs: number): readonly BoundLimit[] {
  const inForce = book.limitsInForce(keyId);
  if (inForce.length === 0) return UNBOUND;
  return inForce.map((limit) => {
    const periodStartMs = periodStart(limit.period, nowMs, limit.timeZone);
    return { limit, key: { limitId: limit.limitId, periodStartMs } };
  });
}

export function headroomOf(money: Money, bound: readonly BoundLimit[]): Headroom {
  const { available, held } = balancesOf(money.wallet);
  let limits: Remainder | undefined;
  for (const { limit, key } of bound) {
    const { used, held: heldByLimit } = counterOf(money, key);
    const unheld = limit.amount - used;
    limits = leastOf(limits, { left: unheld - heldByLimit, unheld });
  }
  const least = limits !== undefined && limits.left < available ? limits.left : available;
  return { least, wallet: { left: available, unheld: available + held }, limits };
}

function leastOf(one: Remainder | undefined, other: Remainder): Remainder {
  if (one === undefined) return other;
  return {
    left: one.left < other.left ? one.left : other.left,
    unheld: one.unheld < other.unheld ? one.unheld : other.unheld,
  };
}

/** Returns the decline for headroom below `minimum`. A limit's decline takes precedence over the wallet's. */
export function declineForHeadroom({ limits, wallet }: Headroom, minimum: Nanos): Declined {
  if (limits !== undefined && limits.left < minimum) {
    return { declined: "spending_limit_exceeded", shortfall: shortfallOf(limits, minimum) };
  }
  const declined = wallet.unheld >= minimum ? "balance_on_hold" : "insufficient_balance";
  return { declined, shortfall: shortfallOf(wallet, minimum) };
}

/** Reports a negative remainder as 0. */
function shortfallOf({ left, unheld }: Remainder, needed: Nanos): Shortfall {
  return { needed, available: left > 0n ? left : 0n, unheld: unheld > 0n ? unheld : 0n };
}
