import { join } from "node:path";
import { createAccount } from "../../src/accounts/accounts.ts";
import { connectDatabase, type Database } from "../../src/db/database.ts";
import type { DatabaseLocation } from "../../src/db/location.ts";
import { createPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { openForTests } from "../support/open-for-tests.ts";
import { writeSqliteFile } from "../support/sqlite-file.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { createTestDatabase } from "../support/test-database.ts";

/** The dialects that suites run on. */
export const DIALECTS = ["sqlite", "postgres"] as const;

type Dialect = (typeof DIALECTS)[number];

/** Opens an empty database with a ledger. Both take the time from `clock.nowMs`. */
export async function openTempStorage(dialect: Dialect = "sqlite") {
  const { location, drop } = await createLocation(dialect);
  const clock = { nowMs: Date.UTC(2026, 5, 1) };
  const now = () => clock.nowMs;
  const database = await connectDatabase(location);
  const ledger = createLedger(database, now);
  const storage = { database, ledger, now };
  return {
    ...storage,
    clock,
    location,
    newAccount: (name: string = crypto.randomUUID()) => createAccount(storage, { name }),
    async close() {
      await ledger.close();
      await database.close();
      await drop();
    },
  };
}

/** Opens an empty database with a ledger before each test, and closes it after. */
export function storageForTests(dialect?: Dialect): TempStorage {
  return openForTests(
    () => openTempStorage(dialect),
    (storage) => storage.close(),
    "test",
  );
}

export type TempStorage = Awaited<ReturnType<typeof openTempStorage>>;

interface TempLocation {
  readonly location: DatabaseLocation;
  drop(): Promise<void>;
}

/** Returns the location of a migrated database without rows. */
export async function createLocation(dialect: Dialect): Promise<TempLocation> {
  if (dialect === "sqlite") {
    const path = join(tempFolder(), "data", "tollgate.db");
    writeSqliteFile(path);
    return { location: { dialect, path }, drop: async () => undefined };
  }
  const { url, drop } = await createTestDatabase();
  return { location: { dialect, url }, drop };
}

function createLedger(database: Database, now: () => number) {
  return database.dialect === "sqlite"
    ? createSqliteLedger({ database: database.sqlite, now })
    : createPostgresLedger({ database: database.postgres, now, busyMaxMs: 60_000 });
}
