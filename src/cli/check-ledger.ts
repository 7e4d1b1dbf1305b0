import { openRemoteLedger } from "../app/storage.ts";
import type { LedgerConfig } from "../config/ledger.ts";
import { LedgerLinkError } from "../ledger-grpc/client/link-error.ts";

const SAYS: Readonly<Partial<Record<string, string>>> = {
  denied: "LEDGER_TOKEN: is refused, expected the token of that ledger",
  unsupported: "LEDGER_URL: names a server that is no ledger, expected tollgate.ledger.v1",
};

/** A refused certificate ends a connection as a server that is away does. */
const SILENT =
  "LEDGER_URL: does not answer, expected a ledger that is ready, in TLS or not as the URL says, with certificates that both sides trust";

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
    return said ?? SILENT;
  } finally {
    await ledger.close();
  }
}
