import { type Cause, GatewayError } from "../../errors.ts";
import type { LedgerError, LedgerErrorCode } from "../../ledger/ledger.ts";

/** Codes that a caller of the console can cause. Every other code is a fault of ours. */
const CAUSES: Partial<Record<LedgerErrorCode, Cause>> = {
  balance_overflow: "conflict",
  conflict: "conflict",
  hold_not_found: "unknown_item",
  invalid_amount: "wrong_shape",
  invalid_id: "wrong_shape",
  invalid_query: "wrong_shape",
  invalid_time_zone: "wrong_shape",
  refund_exceeds_charge: "conflict",
  wallet_not_found: "unknown_item",
};

/** Converts a failed call of the ledger to the error that the console answers. */
export function fromLedgerError(error: LedgerError): GatewayError {
  const cause = CAUSES[error.code];
  return cause ? new GatewayError(cause) : new GatewayError("internal", { reason: error });
}
