import { logVerbosity, type ServiceDefinition, setLogVerbosity } from "@grpc/grpc-js";
import { loadSync, type MessageTypeDefinition } from "@grpc/proto-loader";
import type * as Proto from "../gen/messages.ts";
import { programFile } from "../program-files.ts";

// The library would write addresses and faults to stderr. Callers receive every fault as an error.
setLogVerbosity(logVerbosity.NONE);

/** The full name of the service, for health and reflection. */
export const LEDGER_SERVICE = "tollgate.ledger.v1.LedgerService";

/**
 * Every message and service of the protos. The options must be those that src/gen was generated with. 64-bit
 * numbers stay `Long`: decoding them to decimal text costs more than all other fields together.
 */
const protos = loadSync(["tollgate/ledger/v1/ledger.proto", "google/rpc/error_details.proto"], {
  includeDirs: [programFile("proto")],
  enums: String,
  defaults: true,
  arrays: true,
  oneofs: true,
});

// Safe because src/gen is generated from the same protos.
export const ledgerService = protos[LEDGER_SERVICE] as unknown as Proto.LedgerServiceDefinition;

/** Returns the serializer of a message by its full name. Throws when there is no such message. */
export function messageType<Message extends object, Output extends object>(
  name: string,
): MessageTypeDefinition<Message, Output> {
  const type = protos[name];
  if (!type || !("serialize" in type)) throw new Error(`The protos have no message ${name}`);
  // Safe because the caller gives the generated types of this message.
  return type as unknown as MessageTypeDefinition<Message, Output>;
}

/** Stands for a message that could not be decoded. */
const UNDECODABLE = Object.freeze({ isUndecodable: true });

/** Whether the server could not decode a message of a {@link tolerant} service. */
export function isUndecodable(message: unknown): boolean {
  return message === UNDECODABLE;
}

/**
 * Returns the service with handlers that also receive undecodable messages, and so answer INVALID_ARGUMENT.
 * The library would answer INTERNAL.
 */
export function tolerant<Service extends ServiceDefinition>(service: Service): Service {
  const methods = Object.entries(service).map(([name, method]) => {
    const requestDeserialize = (bytes: Buffer) => {
      try {
        return method.requestDeserialize(bytes);
      } catch {
        return UNDECODABLE;
      }
    };
    return [name, { ...method, requestDeserialize }];
  });
  // Safe because the methods are the same, and every handler calls isUndecodable first.
  return Object.fromEntries(methods) as Service;
}
