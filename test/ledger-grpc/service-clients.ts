import { dirname, join } from "node:path";
import {
  credentials,
  loadPackageDefinition,
  Metadata,
  makeClientConstructor,
  type ServiceClientConstructor,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { service } from "grpc-health-check";

/** Creates a client of `grpc.health.v1` on its own connection, with the token of the metadata, if any. */
export function connectHealth(address: string, metadata = new Metadata()) {
  const Client = makeClientConstructor(service, "grpc.health.v1.Health");
  const client = new Client(address, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  return {
    /** Rejects with the ServiceError of grpc-js. */
    check(name: string): Promise<string> {
      return new Promise((resolve, reject) => {
        client.check?.({ service: name }, (error: ServiceError | null, answer: { status: string }) =>
          error ? reject(error) : resolve(answer.status),
        );
      });
    },
    /** Returns the status of each service. Rejects with the ServiceError of grpc-js. */
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
      const statuses: string[] = [];
      const waiting: ((status: string) => void)[] = [];
      const call = client.watch?.({ service: name }, metadata);
      call.on("data", (answer: { status: string }) => {
        const first = waiting.shift();
        if (first) first(answer.status);
        else statuses.push(answer.status);
      });
      call.on("error", () => undefined);
      call.on("status", ({ code }: { code: status }) => ended.resolve(status[code] ?? String(code)));
      return {
        ended: ended.promise,
        next(): Promise<string> {
          const first = statuses.shift();
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

/** Lists the services of a server by reflection. Rejects with the ServiceError of grpc-js. */
export async function askReflection(
  address: string,
  metadata: Metadata,
  version: "v1" | "v1alpha" = "v1",
): Promise<readonly string[]> {
  const folder = join(
    dirname(require.resolve("@grpc/reflection/package.json")),
    "build/proto/grpc/reflection",
  );
  const loaded = loadPackageDefinition(
    loadSync(join(folder, version, "reflection.proto"), { keepCase: true }),
  );
  // Safe because the file declares this service.
  const { grpc } = loaded as unknown as {
    grpc: { reflection: Record<string, { ServerReflection: ServiceClientConstructor }> };
  };
  const Client = grpc.reflection[version]?.ServerReflection;
  if (!Client) throw new Error(`There is no reflection ${version}`);
  const client = new Client(address, credentials.createInsecure());
  try {
    return await new Promise((resolve, reject) => {
      const call = client.ServerReflectionInfo?.(metadata);
      call.on("error", reject);
      call.on("data", (answer: { list_services_response: { service: { name: string }[] } }) => {
        resolve(answer.list_services_response.service.map(({ name }) => name));
        call.end();
      });
      call.write({ list_services: "" });
    });
  } finally {
    client.close();
  }
}
