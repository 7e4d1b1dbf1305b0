import { type Cause, GatewayError } from "../errors.ts";

/** How a request ended on the upstream's side. */
export type Outcome =
  /** `ending` is what the client may see only after the settlement. */
  | { readonly kind: "finished"; readonly ending: string }
  /** Finished, but the client's format has no words for it: it is paid for, and asking another route would be too. */
  | { readonly kind: "unsayable"; readonly error: GatewayError }
  /** Finished, but with nothing readable. */
  | { readonly kind: "empty" }
  /** `isFinal` when another route would fare no better. */
  | { readonly kind: "failed"; readonly error: GatewayError; readonly isFinal: boolean }
  /** The caller's key was revoked, or its account suspended, while the request ran; `isSent` as of a hang-up. */
  | { readonly kind: "revoked"; readonly error: GatewayError; readonly isSent: boolean }
  /** The client went away first; `isSent` when an upstream then had the request and had not failed at it. */
  | { readonly kind: "hung_up"; readonly isSent: boolean };

/** What receipts and the log call an outcome: `ok`, a code of the error contract, or `client_closed`. */
export function outcomeName(outcome: Outcome): string {
  switch (outcome.kind) {
    case "finished":
      return "ok";
    case "empty":
      return "empty_completion";
    case "hung_up":
      return "client_closed";
    case "unsayable":
    case "revoked":
    case "failed":
      return outcome.error.row.code;
  }
}

/** A whole answer that cannot be passed on, for this reason. */
export function unsayable(reason: unknown): Outcome {
  return { kind: "unsayable", error: new GatewayError("upstream_unavailable", { reason }) };
}

/** A failure after which another route may be asked, unless it is final. */
export function failed(
  cause: Cause,
  { reason, isFinal = false }: { readonly reason?: unknown; readonly isFinal?: boolean } = {},
): Outcome {
  return { kind: "failed", error: new GatewayError(cause, { reason }), isFinal };
}
