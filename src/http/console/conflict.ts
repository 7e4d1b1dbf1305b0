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
  const { row, publicMessage } = new GatewayError("conflict");
  const error = { message: publicMessage, type: row.chat[1], code: row.code };
  // Safe because each edit throws conflicts of its own items only.
  return { error, current: print(fault.current as Item) };
}
