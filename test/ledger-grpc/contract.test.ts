import { describeLedger } from "../ledger/contract/describe-ledger.ts";
import { openOnPostgres } from "../ledger/contract/postgres.ts";
import { openBehindGrpc } from "../ledger/contract/remote.ts";
import { openOnSqlite } from "../ledger/contract/sqlite.ts";

describeLedger("a ledger behind gRPC, in a SQLite file", openBehindGrpc(openOnSqlite));
describeLedger("a ledger behind gRPC, in a PostgreSQL database", openBehindGrpc(openOnPostgres));
