import type { LedgerErrorCode } from "../../ledger/ledger.ts";

/** What is wrong with a field: what the ledger itself would refuse it for, or that it cannot be read at all. */
export type FieldFault = Extract<LedgerErrorCode, `invalid_${string}`> | "invalid_request";

/** A message whose field cannot be read. `field` is its path in the message, as the proto names it. */
export class InvalidField extends Error {
  override readonly name = "InvalidField";
  readonly field: string;
  readonly fault: FieldFault;

  constructor(field: string, fault: FieldFault) {
    super(`Cannot read ${field}: ${fault}`);
    this.field = field;
    this.fault = fault;
  }
}

/** What a field must have. Throws {@link InvalidField} when it is not there. */
export function required<Value>(
  value: Value | null | undefined,
  field: string,
  fault: FieldFault = "invalid_request",
): Value {
  if (value === null || value === undefined) throw new InvalidField(field, fault);
  return value;
}
