import type { LedgerErrorCode } from "../ledger/ledger.ts";

const SENTENCES: Readonly<Partial<Record<LedgerErrorCode, string>>> = {
  invalid_amount: "The amount is out of range.",
  invalid_id: "The id is not usable: it has 1 to 128 characters.",
  wallet_not_found: "The account has no wallet.",
  wallet_frozen: "The wallet is frozen.",
  hold_not_found: "The account has no such receipt.",
  hold_released: "Nothing was charged for this receipt.",
  conflict: "The id was used before with other values: nothing was booked.",
  refund_exceeds_charge: "The amount is more than what is left of the charge: nothing was booked.",
  balance_overflow: "The balance would grow beyond what the ledger can count.",
  queue_full: "The ledger is too busy: run the command again.",
  unavailable: "The ledger cannot be written now: run the command again with the same id.",
};

/** Says in one sentence why the ledger refused a command of an operator. */
export function explainRefusal(refusal: LedgerErrorCode): string {
  return SENTENCES[refusal] ?? `The ledger refused: ${refusal}.`;
}
