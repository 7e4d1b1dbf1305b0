import { sweepAnswers } from "../accounts/idempotency.ts";
import { freezeSuspended, type SuspensionParts } from "../accounts/suspension.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import { repeat } from "../time.ts";

const EVERY_MS = 60_000;

/**
 * Repairs once a minute what a killed process left: freezes the wallets of suspended accounts, and deletes the
 * kept answers that are older than 24 h. Several gateways may do so at once.
 */
export function startAccountSweep(
  parts: SuspensionParts & { readonly log: Log },
  everyMs: number = EVERY_MS,
): { close(): Promise<void> } {
  return repeat({
    everyMs,
    async run() {
      const frozen = await freezeSuspended(parts);
      if (frozen > 0) parts.log.warn({ wallets: frozen }, "wallets of suspended accounts frozen");
      await sweepAnswers(parts);
    },
    onFault: (fault) => parts.log.error(describeFault(fault), "sweep of accounts failed"),
  });
}
