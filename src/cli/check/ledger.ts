import { openRemoteLedger } from "../../app/storage.ts";
import type { LedgerConfig } from "../../config/ledger.ts";
import { LedgerLinkError } from "../../ledger-grpc/client/link-error.ts";

const LINK_PROBLEMS: Readonly<Partial<Record<string, string>>> = {
  denied: "LEDGER_TOKEN: is rejected, expected the token of that ledger",
  unsupported: "LEDGER_URL: names a server that is not a ledger, expected tollgate.ledger.v1",
};

/** Also for a rejected certificate, which cannot be told apart from an unavailable server. */
const NO_ANSWER =
  "LEDGER_URL: does not answer, expected a ledger that is ready, with or without TLS as in the URL, with certificates that both sides trust";

/**
 * Returns why the remote ledger cannot be used, as "path: what is wrong, expected something else". Returns
 * `undefined` when it can be used, and for a local ledger.
 */
export async function findLedgerProblem(config: LedgerConfig): Promise<string | undefined> {
  if (!config.remote) return undefined;
  const ledger = await openRemoteLedger(config.remote, config);
  try {
    await ledger.ping();
    return undefined;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const problem = cause instanceof LedgerLinkError ? LINK_PROBLEMS[cause.code] : undefined;
    return problem ?? NO_ANSWER;
  } finally {
    await ledger.close();
  }
}
