/**
 * Why the ledger cannot be reached: the connection could not be had or was lost (`lost`), nothing came in
 * time (`silent`), the token or certificate was not accepted (`denied`), what answers is not a ledger of this
 * protocol (`unsupported`), or it would not read a message (`rejected`).
 */
export type LinkFault = "lost" | "silent" | "denied" | "unsupported" | "rejected";

/** The `cause` of every `unavailable` that the ledger did not say itself. */
export class LedgerLinkError extends Error {
  override readonly name = "LedgerLinkError";
  readonly code: LinkFault;

  constructor(code: LinkFault, reason?: unknown) {
    super(SAYS[code], { cause: reason });
    this.code = code;
  }
}

const SAYS: Readonly<Record<LinkFault, string>> = Object.freeze({
  lost: "The connection to the ledger cannot be had, or was lost",
  silent: "The ledger did not answer in time",
  denied: "The ledger does not accept this token or certificate",
  unsupported: "What answers at the ledger's address does not speak tollgate.ledger.v1",
  rejected: "The ledger would not read a message",
});
