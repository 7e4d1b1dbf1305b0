import { join } from "node:path";
import { createInterface } from "node:readline";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

/**
 * A client of the ledger that shares only the proto with it: `bun ledger-client-child.ts ADDRESS TOKEN`. Reads calls as
 * lines of JSON, `{ "method": …, "request": … }`, and prints each answer as a line.
 */
const [address = "", token = ""] = process.argv.slice(2);
const loaded = loadSync("tollgate/ledger/v1/ledger.proto", {
  includeDirs: [join(import.meta.dir, "../../proto")],
  longs: String,
  enums: String,
  defaults: true,
  oneofs: true,
});
// biome-ignore lint/suspicious/noExplicitAny: the loaded definition has no types.
const { LedgerService } = (grpc.loadPackageDefinition(loaded) as any).tollgate.ledger.v1;
const client = new LedgerService(address, grpc.credentials.createInsecure(), {
  "grpc.max_receive_message_length": 64 * 1024 * 1024,
});
const metadata = new grpc.Metadata();
metadata.set("authorization", `Bearer ${token}`);

for await (const line of createInterface({ input: process.stdin })) {
  const { method, request } = JSON.parse(line);
  const options = { deadline: Date.now() + 60_000 };
  client[method](request, metadata, options, (error: Error | null, answer: unknown) =>
    process.stdout.write(`${JSON.stringify(error ? { error: error.message } : { answer })}\n`),
  );
}
process.exit();
