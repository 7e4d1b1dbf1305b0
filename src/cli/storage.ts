import { type Account, findAccount } from "../accounts/accounts.ts";
import { openStorage } from "../app/storage.ts";
import { loadStorageConfig } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { CommandError } from "./command-error.ts";
import { requireStorage } from "./require-books.ts";

/** What a command works on; a running server may have the same database open. */
export interface Storage {
  readonly database: Database;
  readonly ledger: Ledger;
}

/** Opens the books of the environment for one piece of work and closes them whatever happens. */
export async function withStorage<T>(work: (books: Storage) => Promise<T>): Promise<T> {
  const books = await openStorage(loadStorageConfig());
  return await work(books).finally(() => books.close());
}

/** The same for work on books that are there, in the database itself. */
export async function withLocalStorage<T>(work: (books: Storage) => Promise<T>): Promise<T> {
  const { ledger, database } = loadStorageConfig();
  if (ledger.remote) {
    throw new CommandError("LEDGER_URL names another ledger: run this where the database of that ledger is.");
  }
  await requireStorage(database);
  return withStorage(work);
}

/** The account that `--account` names by id or name. */
export async function requireAccount(database: Database, idOrName: string): Promise<Account> {
  const account = await findAccount(database, idOrName);
  if (!account) throw new CommandError(`There is no account "${idOrName}".`);
  return account;
}
