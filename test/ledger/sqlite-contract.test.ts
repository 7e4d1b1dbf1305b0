import { describeLedger } from "./contract/describe-ledger.ts";
import { openOnSqlite } from "./contract/sqlite.ts";

describeLedger("a ledger in a SQLite file", openOnSqlite);
