import { describeLedger } from "./contract/describe-ledger.ts";
import { openOnPostgres } from "./contract/postgres.ts";

describeLedger("a ledger in a PostgreSQL database", openOnPostgres);
