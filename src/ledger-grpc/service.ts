import { join } from "node:path";
import { logVerbosity, type ServiceDefinition, setLogVerbosity } from "@grpc/grpc-js";
import { loadSync, type MessageTypeDefinition } from "@grpc/proto-loader";
import type { LedgerServiceDefinition } from "../gen/tollgate/ledger/v1/LedgerService.ts";

// The library would write addresses and faults to stderr by itself; what matters comes as an error.
setLogVerbosity(logVerbosity.NONE);

/** The service's full name, as health and reflection know it. */
export const LEDGER_SERVICE = "tollgate.ledger.v1.LedgerService";

/**
 * Every message and service of the protos. The options are those that src/gen was generated with; 64-bit
 * numbers are left as the library reads them, for their decimal text takes longer than all the rest.
 */
const protos = loadSync(["tollgate/ledger/v1/ledger.proto", "google/rpc/error_details.proto"], {
  includeDirs: [join(import.meta.dir, "../../proto")],
  enums: String,
  defaults: true,
  arrays: true,
  oneofs: true,
});

// Safe because src/gen is generated from the same protos.
export const ledgerService = protos[LEDGER_SERVICE] as unknown as LedgerServiceDefinition;

/** How one message is put on the wire, by its full name. */
export function messageType<Message extends object, Output extends object>(
  name: string,
): MessageTypeDefinition<Message, Output> {
  const type = protos[name];
  if (!type || !("serialize" in type)) throw new Error(`The protos have no message ${name}`);
  // Safe because the caller names the generated types of this very message.
  return type as unknown as MessageTypeDefinition<Message, Output>;
}

/** What stands for a message whose bytes are none of its type. */
const UNREADABLE = Object.freeze({ isUnreadable: true });

export function isUnreadable(message: unknown): boolean {
  return message === UNREADABLE;
}

/**
 * The same service, whose handlers are given unreadable messages too. The library would answer INTERNAL, as
 * if the fault were ours.
 */
export function tolerant<Service extends ServiceDefinition>(service: Service): Service {
  const methods = Object.entries(service).map(([name, method]) => {
    const requestDeserialize = (bytes: Buffer) => {
      try {
        return method.requestDeserialize(bytes);
      } catch {
        return UNREADABLE;
      }
    };
    return [name, { ...method, requestDeserialize }];
  });
  // Safe because it has the same methods, and handlers ask isUnreadable first.
  return Object.fromEntries(methods) as Service;
}
