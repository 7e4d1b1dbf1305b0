import { EditConflict } from "../../accounts/accounts.ts";
import { GatewayError } from "../../errors.ts";

/** The body of a 409 for an edit of an older version: the error, and the item as it is now. */
export interface ConflictBody<Shape> {
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
