import { repeat } from "../platform.ts";
import { describeFault } from "../telemetry/log.ts";
import { type ChargeParts, chargeDue } from "./auto-charges.ts";
import { type CrossingParts, claimCrossings } from "./auto-crossings.ts";

const PASS_MS = 5_000;

interface JobParts extends CrossingParts, ChargeParts {
  readonly ledger: CrossingParts["ledger"] & ChargeParts["ledger"];
  /** Whether new payments may be made: not where Stripe computes taxes, which these payments have none of. */
  isOffered(): boolean;
}

/**
 * Watches the wallets with an automatic top-up every five seconds, and pays. Every gateway does: the database decides
 * which of them stores the payment of a crossing, and which of them asks Stripe.
 */
export function startAutoTopUps(parts: JobParts, { passMs = PASS_MS } = {}): { close(): Promise<void> } {
  let isAway = false;
  return repeat({
    everyMs: passMs,
    async run() {
      await runAutoTopUps(parts);
      isAway = false;
    },
    onFault(fault) {
      if (!isAway) parts.log.warn(describeFault(fault), "automatic top-ups not watched");
      isAway = true;
    },
  });
}

/** One pass: stores the payments of new crossings, and asks Stripe for those that are due. */
export async function runAutoTopUps(parts: JobParts): Promise<void> {
  if (parts.isOffered()) await claimCrossings(parts);
  await chargeDue(parts);
}
