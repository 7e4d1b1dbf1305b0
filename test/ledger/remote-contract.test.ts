import { describeLedger } from "./contract/describe-ledger.ts";
import { openOnPostgres } from "./contract/postgres.ts";
import { openBehindGrpc } from "./contract/remote.ts";
import { openOnSqlite } from "./contract/sqlite.ts";

describeLedger("a ledger behind gRPC, in a SQLite file", openBehindGrpc(openOnSqlite));
describeLedger("a ledger behind gRPC, in a PostgreSQL database", openBehindGrpc(openOnPostgres));
