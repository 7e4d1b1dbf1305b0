import { credentials, Metadata, makeClientConstructor, type ServiceError, status } from "@grpc/grpc-js";
import { service } from "grpc-health-check";

/** A client of `grpc.health.v1` on a connection of its own, without a token unless the metadata has one. */
export function connectHealth(address: string, metadata = new Metadata()) {
  const Client = makeClientConstructor(service, "grpc.health.v1.Health");
  const client = new Client(address, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  return {
    /** Rejects with the library's ServiceError. */
    check(name: string): Promise<string> {
      return new Promise((resolve, reject) => {
        client.check?.({ service: name }, (error: ServiceError | null, answer: { status: string }) =>
          error ? reject(error) : resolve(answer.status),
        );
      });
    },
    /** The status of each service. Rejects with the library's ServiceError. */
    list(): Promise<Record<string, string>> {
      return new Promise((resolve, reject) => {
        type Answer = { readonly statuses: Readonly<Record<string, { readonly status: string }>> };
        client.list?.({}, (error: ServiceError | null, answer: Answer) => {
          if (error) return reject(error);
          const statuses = Object.entries(answer.statuses).map(([name, { status }]) => [name, status]);
          resolve(Object.fromEntries(statuses));
        });
      });
    },
    watch(name: string) {
      const ended = Promise.withResolvers<string>();
      const said: string[] = [];
      const waiting: ((status: string) => void)[] = [];
      const call = client.watch?.({ service: name }, metadata);
      call.on("data", (answer: { status: string }) => {
        const first = waiting.shift();
        if (first) first(answer.status);
        else said.push(answer.status);
      });
      call.on("error", () => undefined);
      call.on("status", ({ code }: { code: status }) => ended.resolve(status[code] ?? String(code)));
      return {
        ended: ended.promise,
        next(): Promise<string> {
          const first = said.shift();
          return first === undefined
            ? new Promise((resolve) => waiting.push(resolve))
            : Promise.resolve(first);
        },
        [Symbol.dispose]: () => call.cancel(),
      };
    },
    [Symbol.dispose]: () => client.close(),
  };
}
