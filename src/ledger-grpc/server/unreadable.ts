import type { ServiceDefinition } from "@grpc/grpc-js";

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
