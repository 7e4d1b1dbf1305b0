import { describeConnectedLedger, describeLedger } from "../ledger/contract/describe-ledger.ts";
import { openOnPostgres } from "../ledger/contract/postgres.ts";
import { openBehindGrpc } from "../ledger/contract/remote.ts";
import { openOnSqlite } from "../ledger/contract/sqlite.ts";

// Each store passes the whole contract by itself, and the connection with one of them. `bun run test:pairs` runs
// it for every pair of store and connection.
const describeSecond = process.env.TEST_PAIRS === "all" ? describeLedger : describeConnectedLedger;

describeLedger("a ledger behind gRPC, in a SQLite file", openBehindGrpc(openOnSqlite));
describeSecond("a ledger behind gRPC, in a PostgreSQL database", openBehindGrpc(openOnPostgres));
