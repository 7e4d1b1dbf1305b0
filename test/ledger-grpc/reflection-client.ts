import { dirname, join } from "node:path";
import {
  credentials,
  loadPackageDefinition,
  type Metadata,
  type ServiceClientConstructor,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

/** The services that a server says it has. Rejects with the library's ServiceError. */
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
