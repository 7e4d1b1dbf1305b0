import { openRemoteLedger } from "../books.ts";
import type { LedgerConfig } from "../config/ledger.ts";
import { LedgerLinkError } from "../ledger/grpc/client-link-error.ts";

const SAYS: Readonly<Partial<Record<string, string>>> = {
  denied: "LEDGER_TOKEN: is refused, or the certificate is, expected what the ledger accepts",
  unsupported: "LEDGER_URL: names a server that is no ledger, expected tollgate.ledger.v1",
};

/** Why a ledger elsewhere cannot be used, as "path: what is wrong, what is expected"; nothing without one. */
export async function findLedgerFault(config: LedgerConfig): Promise<string | undefined> {
  if (!config.remote) return undefined;
  const ledger = await openRemoteLedger(config.remote, config);
  try {
    await ledger.ping();
    return undefined;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const said = cause instanceof LedgerLinkError ? SAYS[cause.code] : undefined;
    return said ?? "LEDGER_URL: does not answer, expected a ledger that is ready";
  } finally {
    await ledger.close();
  }
}
