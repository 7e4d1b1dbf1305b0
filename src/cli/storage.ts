import { existsSync } from "node:fs";
import { type Account, findAccount } from "../accounts/accounts.ts";
import { openStorage } from "../app/storage.ts";
import { loadStorageConfig } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import type { DatabaseLocation } from "../db/location.ts";
import { readPostgresUrl } from "../db/postgres/connection.ts";
import { readSchemaVersion } from "../db/postgres/migrate.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { CommandError } from "./command.ts";

/** The database and the ledger that a command uses. A running gateway may have the same database open. */
export interface Storage {
  readonly database: Database;
  readonly ledger: Ledger;
}

/** Opens the storage of the environment, runs one piece of work, and closes the storage in any case. */
export async function withStorage<T>(work: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await openStorage(loadStorageConfig());
  return await work(storage).finally(() => storage.close());
}

/** Like {@link withStorage}, for work on the existing database of a local ledger. Rejects without one. */
export async function withLocalStorage<T>(work: (storage: Storage) => Promise<T>): Promise<T> {
  const { ledger, database } = loadStorageConfig();
  if (ledger.remote) {
    throw new CommandError("LEDGER_URL names another ledger: run this where the database of that ledger is.");
  }
  await requireStorage(database);
  return withStorage(work);
}

/**
 * Throws when the database has no tables yet. A command that only reads must neither create them nor report
 * success: the name of the database is probably wrong.
 */
export async function requireStorage(location: DatabaseLocation): Promise<void> {
  if (location.dialect === "sqlite") {
    if (!existsSync(location.path)) throw noStorage(`There is no file ${location.path}`);
    return;
  }
  const client = readPostgresUrl(location.url)({ max: 1 });
  const version = await readSchemaVersion(client).finally(() => client.close());
  if (version === 0) throw noStorage("The database has no tables of Tollgate");
}

function noStorage(because: string): CommandError {
  return new CommandError(`${because}: there are no books to audit. See DATABASE_URL.`);
}

/** Finds the account of `--account`, by id or name. Throws when there is none. */
export async function requireAccount(database: Database, idOrName: string): Promise<Account> {
  const account = await findAccount(database, idOrName);
  if (!account) throw new CommandError(`There is no account "${idOrName}".`);
  return account;
}
