import { GatewayError } from "../../errors.ts";
import { LedgerError } from "../../ledger/ledger.ts";

/** Awaits a read of the ledger. Throws `wrong_shape` for a query that the ledger does not take. */
export async function readLedger<Result>(read: Promise<Result>): Promise<Result> {
  try {
    return await read;
  } catch (fault) {
    const isInvalid = fault instanceof LedgerError && fault.code === "invalid_query";
    throw isInvalid ? new GatewayError("wrong_shape", { reason: fault }) : fault;
  }
}
