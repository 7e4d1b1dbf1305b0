import { type Cause, GatewayError } from "../../errors.ts";
import { LedgerError, type LedgerErrorCode } from "../../ledger/ledger.ts";

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

/** Throws the fault of a top-up or refund as the error that its caller may see, with the wrong field. */
export function throwBookingError(fault: unknown): never {
  if (!(fault instanceof LedgerError)) throw fault;
  switch (fault.code) {
    case "conflict":
      throw new GatewayError("conflict", { message: "This id was used for another booking.", reason: fault });
    case "refund_exceeds_charge":
      throw new GatewayError("conflict", { message: "The refund exceeds what is left of the charge." });
    case "balance_overflow":
    case "invalid_amount":
      throw new GatewayError("wrong_shape", { path: "amount_usd", reason: fault });
    case "invalid_id":
      throw new GatewayError("wrong_shape", { path: "id", reason: fault });
    case "hold_not_found":
      throw new GatewayError("unknown_receipt", { reason: fault });
    case "wallet_not_found":
      throw new GatewayError("unknown_item", { reason: fault });
    default:
      throw new GatewayError("internal", { reason: fault });
  }
}
