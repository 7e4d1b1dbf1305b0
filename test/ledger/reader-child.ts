// A process that runs one query in the worker reader and must then exit by itself.
import { createWorkerReader } from "../../src/ledger/sqlite/reads.ts";

const [path = ""] = process.argv.slice(2);
const reader = createWorkerReader({ path });
const [row] = await reader.run({ sql: "SELECT count(*) AS count FROM wallets", values: [] });
console.log(`${row?.count} wallets`);
