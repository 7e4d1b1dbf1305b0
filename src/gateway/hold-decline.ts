import { type Nanos, printUsd } from "../domain/money.ts";
import type { Cause } from "../errors.ts";
import { LedgerError, type LedgerErrorCode, type Shortfall } from "../ledger/ledger.ts";

const REASONS = [
  "spending_limit_exceeded",
  "insufficient_balance",
  "balance_on_hold",
  "wallet_frozen",
] as const satisfies readonly LedgerErrorCode[];

type DeclineReason = (typeof REASONS)[number];

/** Why the ledger declined a hold. Every other refusal of the ledger is a fault of ours. */
export interface Decline {
  readonly reason: DeclineReason;
  /** `undefined` for a frozen wallet, and from a ledger that sends no amounts. */
  readonly shortfall: Shortfall | undefined;
}

/** `undefined` for what is no decline. */
export function declineOf(fault: unknown): Decline | undefined {
  if (!(fault instanceof LedgerError)) return undefined;
  const { code: refusal, shortfall } = fault;
  const reason = REASONS.find((each) => each === refusal);
  return reason && { reason, shortfall };
}

/** Chooses the message: nothing is left, less than needed is left, or enough is left but for open holds. */
export function causeOf({ reason, shortfall }: Decline): Cause {
  if (reason === "wallet_frozen") return "account_suspended";
  const isOnHold = shortfall ? shortfall.unheld >= shortfall.needed : reason === "balance_on_hold";
  if (reason !== "spending_limit_exceeded") return isOnHold ? "wallet_on_hold" : "wallet_empty";
  if (isOnHold) return "spending_limit_on_hold";
  return shortfall && shortfall.unheld > 0n ? "spending_limit_short" : "spending_limit";
}

/** The amounts of a 402 in USD: the least that would have been granted, and what there was. */
export function declineHeaders({ shortfall }: Decline): Record<string, string> {
  if (!shortfall) return {};
  return {
    "x-tollgate-needed-usd": printUsd(shortfall.needed),
    "x-tollgate-available-usd": printUsd(shortfall.available),
  };
}

/**
 * The decline that another request of the key would meet at the same balances; `undefined` where that is not
 * certain. A smaller request may fit, and one that needs more of the wallet may meet a spending limit first.
 */
export function declineFor(decline: Decline, needed: Nanos): Decline | undefined {
  const { reason, shortfall } = decline;
  if (reason === "wallet_frozen") return decline;
  if (!shortfall || needed <= shortfall.available) return undefined;
  if (reason !== "spending_limit_exceeded" && needed > shortfall.needed) return undefined;
  return { reason, shortfall: { ...shortfall, needed } };
}
