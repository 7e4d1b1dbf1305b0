// Serves a ledger over gRPC on a free port, for a client in another process.
import { serveLedger } from "../../../src/ledger-grpc/server/server.ts";
import { createCapturedLog } from "../../support/captured-log.ts";
import { openBenchStorage } from "./bench-storage.ts";

const [location = "{}", token = ""] = Bun.argv.slice(2);
const storage = await openBenchStorage(JSON.parse(location));
const listen = { host: "127.0.0.1", port: 0 };
const { address } = await serveLedger({
  ledger: storage.ledger,
  listen,
  tokens: () => [token],
  tls: undefined,
  log: createCapturedLog(),
});
process.send?.({ address });
