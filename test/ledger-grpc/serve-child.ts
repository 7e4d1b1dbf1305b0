import { openDatabase } from "../../src/db/sqlite/database.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { serveLedger } from "../../src/ledger-grpc/server/server.ts";
import { createCapturedLog } from "../support/captured-log.ts";

/**
 * Serves the ledger in a file until it is killed: `bun serve-child.ts FILE PORT TOKEN`. Prints its address.
 */
const [file = "", port = "0", token = ""] = process.argv.slice(2);
const ledger = createSqliteLedger({ database: openDatabase(file) });
const listen = { host: "127.0.0.1", port: Number(port) };
const { address } = await serveLedger({ ledger, listen, tokens: () => [token], log: createCapturedLog() });
process.stdout.write(`${address}\n`);

// Ends with the test that started it: stdin closes then.
for await (const _ of process.stdin);
process.exit();
