import { messageType } from "../../src/ledger-grpc/service.ts";

/** The message as its receiver sees it. */
// biome-ignore lint/suspicious/noExplicitAny: the caller says by its decoder which message it is.
export function through(name: string, message: object): any {
  const type = messageType(name.includes(".") ? name : `tollgate.ledger.v1.${name}`);
  return type.deserialize(type.serialize(message));
}
