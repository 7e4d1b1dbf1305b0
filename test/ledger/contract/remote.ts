import { connectLedger } from "../../../src/ledger-grpc/client/client.ts";
import { type LedgerServerLog, serveLedger } from "../../../src/ledger-grpc/server/server.ts";
import { PATIENT } from "../../ledger-grpc/served.ts";
import type { LedgerUnderTest, OpenLedger } from "./env.ts";

const TOKEN = "token of the contract suite";

/**
 * Opens a ledger behind a gRPC server and a client. `openAnother` opens a second server and client on the
 * same database. Closing throws if a server logged a warning or error, or if the audit has findings.
 */
export function openBehindGrpc(openLocal: OpenLedger): OpenLedger {
  return async () => {
    const local = await openLocal();
    const faults: unknown[] = [];
    const log: LedgerServerLog = {
      warn: (fields, event) => faults.push([event, fields]),
      error: (fields, event) => faults.push([event, fields]),
    };
    const open = async (ledger: LedgerUnderTest["ledger"]) => {
      const server = await serveLedger({
        ledger,
        listen: { host: "127.0.0.1", port: 0 },
        tokens: () => [TOKEN],
        log,
      });
      const client = connectLedger({ address: server.address, tokens: () => [TOKEN], ...PATIENT });
      return { server, client };
    };
    const first = await open(local.ledger);
    let second: ReturnType<typeof open> | undefined;
    return {
      ...local,
      ledger: first.client,
      direct: local.ledger,
      // The store's own suite audits after each test. Here, one audit on closing is enough.
      audit: async () => [],
      async openAnother() {
        second ??= local.openAnother().then(open);
        return (await second).client;
      },
      async close() {
        for (const each of [first, await second]) {
          await each?.client.close();
          await each?.server.stop();
        }
        faults.push(...(await local.audit()));
        await local.close();
        if (faults.length > 0)
          throw new Error(`The servers or the audit reported faults: ${Bun.inspect(faults)}`);
      },
    };
  };
}
