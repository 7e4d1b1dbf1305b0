import { EditConflict } from "../../accounts/accounts.ts";
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
    case "invalid_credit":
      throw new GatewayError("wrong_shape", { path: "expires_at", reason: fault });
    case "hold_not_found":
      throw new GatewayError("unknown_receipt", { reason: fault });
    case "wallet_not_found":
      throw new GatewayError("unknown_item", { reason: fault });
    default:
      throw new GatewayError("internal", { reason: fault });
  }
}

/** The body of a 409 for an edit of an older version: the error, and the item as it is now. */
interface ConflictBody<Shape> {
  readonly error: { readonly message: string; readonly type: string; readonly code: string };
  readonly current: Shape;
}

/** Returns the body of an {@link EditConflict}, printed by `print`. Throws every other fault again. */
export function readConflict<Item, Shape>(
  fault: unknown,
  print: (current: Item) => Shape,
): ConflictBody<Shape> {
  if (!(fault instanceof EditConflict)) throw fault;
  // Safe because each edit throws conflicts of its own items only.
  return { error: describeConflict(), current: print(fault.current as Item) };
}

/** The error of a conflict, as the envelope of errors has it. */
export function describeConflict(): ConflictBody<unknown>["error"] {
  const { row, publicMessage } = new GatewayError("conflict");
  return { message: publicMessage, type: row.chat[1], code: row.code };
}
