import { messageType } from "../../src/ledger-grpc/service.ts";

/** Serializes a message and returns it as its receiver decodes it. */
// biome-ignore lint/suspicious/noExplicitAny: the decoder of the caller knows the type of the message.
export function roundTrip(name: string, message: object): any {
  const type = messageType(name.includes(".") ? name : `tollgate.ledger.v1.${name}`);
  return type.deserialize(type.serialize(message));
}
