// A process that asks one question of the books and has nothing else to do.
import { createReader } from "../../src/ledger/sqlite/reader.ts";

const [path = ""] = process.argv.slice(2);
const reader = createReader({ path });
const [row] = await reader.ask({ sql: "SELECT count(*) AS count FROM wallets", values: [] });
console.log(`${row?.count} wallets`);
