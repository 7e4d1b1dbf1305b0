// Grants what is due in a database, pass after pass on a fast clock, until it is killed.
import { connectDatabase } from "../../src/db/database.ts";
import type { DatabaseLocation } from "../../src/db/location.ts";
import { createPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { runPlanPass } from "../../src/plans/pass.ts";
import { type FastClock, readClock } from "./fast-clock.ts";

interface Given {
  readonly location: DatabaseLocation;
  readonly clock: FastClock;
}

// Safe because the test is the only caller.
const { location, clock } = JSON.parse(Bun.argv[2] ?? "") as Given;
const now = () => readClock(clock);
const database = await connectDatabase(location);
const ledger =
  database.dialect === "sqlite"
    ? createSqliteLedger({ database: database.sqlite, now })
    : createPostgresLedger({ database: database.postgres, now });
const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
for (;;) {
  // A process that dies with the database of a test is of no interest.
  await runPlanPass({ database, ledger, now, log }).catch(quiet);
  await Bun.sleep(5);
}
