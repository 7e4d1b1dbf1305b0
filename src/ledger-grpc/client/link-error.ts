// In a file of its own: the command line recognises this error without loading the gRPC library.

/**
 * Why the ledger cannot be reached. `lost`: no connection, or it broke. `silent`: no answer in time.
 * `denied`: the token or certificate is not accepted. `unsupported`: the address does not serve this
 * protocol. `rejected`: the server could not decode a message.
 */
export type LinkFault = "lost" | "silent" | "denied" | "unsupported" | "rejected";

/** The `cause` of every `unavailable` that the ledger itself did not answer. */
export class LedgerLinkError extends Error {
  override readonly name = "LedgerLinkError";
  readonly code: LinkFault;

  constructor(code: LinkFault, reason?: unknown) {
    super(MESSAGES[code], { cause: reason });
    this.code = code;
  }
}

const MESSAGES: Readonly<Record<LinkFault, string>> = Object.freeze({
  lost: "The connection to the ledger failed or was lost",
  silent: "The ledger did not answer in time",
  denied: "The ledger does not accept this token or certificate",
  unsupported: "The ledger's address does not serve tollgate.ledger.v1",
  rejected: "The ledger could not decode a message",
});
