import { type Nanos, printUsd } from "../domain/money.ts";
import type { Cause } from "../errors.ts";
import { LedgerError, type LedgerErrorCode, type Shortfall } from "../ledger/ledger.ts";
import type { Balances, SpendLimitUsage } from "../ledger/records.ts";

/** After this many declines of a key within a second, the next second is answered from memory. */
const DECLINES_MAX = 3;
const WINDOW_MS = 1000;
const KEYS_MAX = 10_000;

const REASONS = [
  "spending_limit_exceeded",
  "insufficient_balance",
  "balance_on_hold",
  "wallet_frozen",
] as const satisfies readonly LedgerErrorCode[];

type DeclineReason = (typeof REASONS)[number];

/** Why the ledger declined a hold. Every other error of the ledger is a fault of the service. */
export interface Decline {
  readonly reason: DeclineReason;
  /** `undefined` for a frozen wallet, and from an older ledger, which sends no amounts. */
  readonly shortfall: Shortfall | undefined;
}

/** Returns the decline that a failed hold carries; `undefined` for any other fault. */
export function declineOf(fault: unknown): Decline | undefined {
  if (!(fault instanceof LedgerError)) return undefined;
  const reason = REASONS.find((each) => each === fault.code);
  return reason && { reason, shortfall: fault.shortfall };
}

/** What a hold takes from: a wallet, and the spending limits that bind its key. */
export interface Money {
  readonly wallet: Balances;
  readonly limits: readonly SpendLimitUsage[];
}

/** Returns the decline that a hold of `needed` would meet at these balances; `undefined` when it may be granted. */
export function shortageOf({ wallet, limits }: Money, needed: Nanos): Decline | undefined {
  for (const { amount, used, held } of limits) {
    const unheld = amount - used;
    if (unheld - held < needed)
      return { reason: "spending_limit_exceeded", shortfall: shortfallOf(needed, unheld - held, unheld) };
  }
  const { available, held } = wallet;
  if (available >= needed) return undefined;
  const unheld = available + held;
  const reason = unheld >= needed ? "balance_on_hold" : "insufficient_balance";
  return { reason, shortfall: shortfallOf(needed, available, unheld) };
}

/** Reports a negative remainder as 0. */
function shortfallOf(needed: Nanos, available: Nanos, unheld: Nanos): Shortfall {
  return { needed, available: available > 0n ? available : 0n, unheld: unheld > 0n ? unheld : 0n };
}

/** Chooses the error: nothing is left, too little is left, or enough is left but for open holds. */
export function causeOf({ reason, shortfall }: Decline): Cause {
  if (reason === "wallet_frozen") return "account_suspended";
  const isOnHold = shortfall ? shortfall.unheld >= shortfall.needed : reason === "balance_on_hold";
  if (reason !== "spending_limit_exceeded") return isOnHold ? "wallet_on_hold" : "wallet_empty";
  if (isOnHold) return "spending_limit_on_hold";
  return shortfall && shortfall.unheld > 0n ? "spending_limit_short" : "spending_limit";
}

/** Formats the amounts of a 402 in USD: the smallest acceptable grant, and the amount that was available. */
export function declineHeaders({ shortfall }: Decline): Record<string, string> {
  if (!shortfall) return {};
  return {
    "x-tollgate-needed-usd": printUsd(shortfall.needed),
    "x-tollgate-available-usd": printUsd(shortfall.available),
  };
}

/** Remembers keys whose holds were declined, so that a client in a retry loop does not reach the ledger. */
export interface DeclineMemory {
  /**
   * Returns the decline of a hold of at least `needed`, with that amount in it. Returns `undefined` when the
   * ledger declined fewer than three holds of the key within a second, or might grant this one.
   */
  recall(keyId: string, needed: Nanos): Decline | undefined;
  note(keyId: string, decline: Decline): void;
}

interface KeyMemory {
  decline: Decline;
  count: number;
  sinceMs: number;
  untilMs: number;
}

/** Creates a memory that is bounded to 10,000 keys. */
export function createDeclineMemory(clock: () => number): DeclineMemory {
  const memories = new Map<string, KeyMemory>();
  return {
    recall(keyId, needed) {
      const memory = memories.get(keyId);
      return memory && clock() < memory.untilMs ? declineFor(memory.decline, needed) : undefined;
    },
    note(keyId, decline) {
      const now = clock();
      let memory = memories.get(keyId);
      if (!memory || now - memory.sinceMs >= WINDOW_MS) {
        // Every entry is at most two seconds old: clearing all costs the ledger a few more requests.
        if (memories.size >= KEYS_MAX) memories.clear();
        memory = { decline, count: 0, sinceMs: now, untilMs: 0 };
        memories.set(keyId, memory);
      }
      memory.decline = decline;
      memory.count += 1;
      if (memory.count >= DECLINES_MAX) memory.untilMs = now + WINDOW_MS;
    },
  };
}

/**
 * Returns the decline of another hold of the key at unchanged balances; `undefined` when that is not certain.
 * A smaller hold may fit. A larger one may exceed a spending limit first.
 */
function declineFor(decline: Decline, needed: Nanos): Decline | undefined {
  const { reason, shortfall } = decline;
  if (reason === "wallet_frozen") return decline;
  if (!shortfall || needed <= shortfall.available) return undefined;
  if (reason !== "spending_limit_exceeded" && needed > shortfall.needed) return undefined;
  return { reason, shortfall: { ...shortfall, needed } };
}
