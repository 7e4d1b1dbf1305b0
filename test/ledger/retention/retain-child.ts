// A process that drops receipts of a SQLite file, at a time given in Unix milliseconds, until it is killed.
import { openDatabase } from "../../../src/db/sqlite/database.ts";
import { createSqliteLedger } from "../../../src/ledger/sqlite/ledger.ts";

const [path = "", nowMs = "0"] = process.argv.slice(2);
const database = openDatabase(path);
const ledger = createSqliteLedger({ database, now: () => Number(nowMs) });
while ((await ledger.retain({ receiptsDays: 30 })).isMore);
await ledger.close();
database.close();
