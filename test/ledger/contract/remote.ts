import { connectLedger } from "../../../src/ledger-grpc/client/client.ts";
import { type LedgerServerLog, serveLedger } from "../../../src/ledger-grpc/server/server.ts";
import type { LedgerUnderTest, OpenLedger } from "./books.ts";

const TOKEN = "token of the contract suite";
/** A ledger that is slow with the machine is not away: what the client's own limits do is tested apart. */
const PATIENT = { answerMaxMs: 120_000, outageMaxMs: 120_000, connectMaxMs: 120_000, listMaxMs: 120_000 };

/**
 * The same ledger behind a gRPC server and a client of it. What is opened beside it has a connection of its
 * own to another server on the same books. What the servers log, and what an audit finds, fails the closing.
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
      const server = await serveLedger({ ledger, listen: { host: "127.0.0.1", port: 0 }, token: TOKEN, log });
      const client = connectLedger({ address: server.address, token: TOKEN, ...PATIENT });
      return { server, client };
    };
    const first = await open(local.ledger);
    let second: ReturnType<typeof open> | undefined;
    return {
      ...local,
      ledger: first.client,
      // Whether the books are right is the store's affair: once for the whole suite is enough here.
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
        if (faults.length > 0) throw new Error(`Not without faults: ${Bun.inspect(faults)}`);
      },
    };
  };
}
