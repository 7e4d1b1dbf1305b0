import { LedgerError } from "../ledger/ledger.ts";
import { repeat } from "../platform.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import { creditAutoPayment, findUncreditedAutoPayments } from "./auto-payments.ts";
import { creditCheckout, findUncreditedCheckouts } from "./checkouts.ts";
import { creditCode, findUncreditedCodes } from "./redeem-codes.ts";
import { findUnbooked } from "./reversal-claims.ts";
import { bookEffect, type ReversalParts } from "./reversals.ts";
import { bookSignedPayment, findUnbookedSigned } from "./signed-payments.ts";

/** The most payments of one kind that one sweep credits. */
const SWEEP_MAX = 100;
const SWEEP_MS = 60_000;

interface SweepParts extends ReversalParts {
  readonly log: Log;
}

/**
 * Credits payments that are bound to a wallet without a credit, and books refunds and disputes: the ledger was away, or
 * the process died in between. Safe in any number of processes at once. Returns how many it booked.
 */
export async function sweepPayments(parts: SweepParts): Promise<number> {
  let credited = 0;
  for (const code of await findUncreditedCodes(parts, SWEEP_MAX)) {
    credited += await attempt(parts, code.id, () => creditCode(parts, code));
  }
  for (const checkout of await findUncreditedCheckouts(parts, SWEEP_MAX)) {
    credited += await attempt(parts, checkout.id, () => creditCheckout(parts, checkout));
  }
  for (const payment of await findUncreditedAutoPayments(parts, SWEEP_MAX)) {
    credited += await attempt(parts, payment.id, () => creditAutoPayment(parts, payment));
  }
  for (const reversal of await findUnbooked(parts.database, SWEEP_MAX)) {
    credited += await attempt(parts, reversal.id, () => bookEffect(parts, reversal));
  }
  for (const payment of await findUnbookedSigned(parts, SWEEP_MAX)) {
    credited += await attempt(parts, payment.id, () => bookSignedPayment(parts, payment));
  }
  return credited;
}

/** One payment that cannot be credited must not hold up the others. */
async function attempt({ log }: SweepParts, payment: string, credit: () => Promise<void>): Promise<number> {
  try {
    await credit();
    log.info({ payment }, "payment credited by the sweep");
    return 1;
  } catch (thrown) {
    const code = thrown instanceof LedgerError ? thrown.code : undefined;
    log.warn({ payment, ledgerCode: code, ...describeFault(thrown) }, "payment not credited");
    return 0;
  }
}

/** Sweeps every minute until it is closed. `close` resolves when a running sweep has ended. */
export function startPaymentSweep(parts: SweepParts): { close(): Promise<void> } {
  return repeat({
    everyMs: SWEEP_MS,
    run: () => sweepPayments(parts),
    onFault: (fault) => parts.log.warn(describeFault(fault), "payment sweep failed"),
  });
}
