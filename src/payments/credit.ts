import type { Database } from "../db/database.ts";
import type { Ledger, TopUpRequest } from "../ledger/ledger.ts";

/** What redeem codes and checkouts need. */
export interface PaymentParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "topUp">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Tops up a wallet for a payment that is bound to it, then records the credit. May run any number of times,
 * in any process: the ledger books one id once. Rejects with LedgerError; the sweep then repeats it.
 */
export async function creditOnce(
  { ledger, now }: PaymentParts,
  topUp: TopUpRequest,
  recordCredit: (creditedAtMs: number) => Promise<void>,
): Promise<void> {
  await ledger.topUp(topUp);
  await recordCredit(now());
}
