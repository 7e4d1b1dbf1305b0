import { LedgerError } from "../../ledger/ledger.ts";
import { InvalidField } from "../codec/invalid-field.ts";
import type { Reason } from "../codec/reasons.ts";
import type { About } from "../codec/status.ts";
import { type Named, suspect } from "./suspect.ts";

/** What is said of a request that failed. */
export interface Failure {
  readonly reason: Reason;
  readonly about: About;
}

/** Says why a request failed; what is no refusal is `internal`, and nothing of it is said. */
export function explain(error: unknown, request: object = {}): Failure {
  if (error instanceof InvalidField) return { reason: error.fault, about: { field: error.field } };
  if (error instanceof LedgerError) {
    // Safe because every request says these things under these names, if at all.
    const about = suspect(error.refusal, request as Named);
    return { reason: error.refusal, about: { ...about, shortfall: error.shortfall } };
  }
  return { reason: "internal", about: {} };
}
