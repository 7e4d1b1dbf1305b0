import { GatewayError } from "../../errors.ts";
import { LedgerError } from "../../ledger/ledger.ts";

/** Rethrows a fault of a booking as the error that its caller may see. */
export function throwLedgerFault(fault: unknown): never {
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
