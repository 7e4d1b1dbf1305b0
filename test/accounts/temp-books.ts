import { join } from "node:path";
import { createAccount } from "../../src/accounts/create.ts";
import { connectDatabase, type Database } from "../../src/db/database.ts";
import type { DatabaseLocation } from "../../src/db/location.ts";
import { createPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { createTestDatabase } from "../support/postgres-server.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** Every dialect, for suites that run on each. */
export const DIALECTS = ["sqlite", "postgres"] as const;

type Dialect = (typeof DIALECTS)[number];

/** A database of its own with a ledger; what is time-dependent follows `clock.nowMs`. */
export async function openTempBooks(dialect: Dialect = "sqlite") {
  const { location, drop } = await createLocation(dialect);
  const clock = { nowMs: Date.UTC(2026, 5, 1) };
  const now = () => clock.nowMs;
  const database = await connectDatabase(location);
  const ledger = createLedger(database, now);
  const books = { database, ledger, now };
  return {
    ...books,
    clock,
    location,
    newAccount: (name: string = crypto.randomUUID()) => createAccount(books, { name }),
    async close() {
      await ledger.close();
      await database.close();
      await drop();
    },
  };
}

export type TempBooks = Awaited<ReturnType<typeof openTempBooks>>;

interface TempLocation {
  readonly location: DatabaseLocation;
  drop(): Promise<void>;
}

/** An empty database, or the place for one. */
export async function createLocation(dialect: Dialect): Promise<TempLocation> {
  if (dialect === "sqlite") {
    const path = join(tempFolder(), "data", "tollgate.db");
    return { location: { dialect, path }, drop: async () => undefined };
  }
  const { url, drop } = await createTestDatabase();
  return { location: { dialect, url }, drop };
}

function createLedger(database: Database, now: () => number) {
  return database.dialect === "sqlite"
    ? createSqliteLedger({ database: database.sqlite, now })
    : createPostgresLedger({ database: database.postgres, now });
}
