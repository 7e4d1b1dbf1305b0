import type { Account } from "../accounts/account.ts";
import { findAccount } from "../accounts/find.ts";
import { openBooks } from "../app/storage.ts";
import { loadBooksConfig } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { CommandError } from "./command-error.ts";
import { requireBooks } from "./require-books.ts";

/** What a command works on; a running server may have the same database open. */
export interface Books {
  readonly database: Database;
  readonly ledger: Ledger;
}

/** Opens the books of the environment for one piece of work and closes them whatever happens. */
export async function withBooks<T>(work: (books: Books) => Promise<T>): Promise<T> {
  const books = await openBooks(loadBooksConfig());
  return await work(books).finally(() => books.close());
}

/** The same for work on books that are there, in the database itself. */
export async function withLocalBooks<T>(work: (books: Books) => Promise<T>): Promise<T> {
  const { ledger, database } = loadBooksConfig();
  if (ledger.remote) {
    throw new CommandError("LEDGER_URL names another ledger: run this where the database of that ledger is.");
  }
  await requireBooks(database);
  return withBooks(work);
}

/** The account that `--account` names by id or name. */
export async function requireAccount(database: Database, idOrName: string): Promise<Account> {
  const account = await findAccount(database, idOrName);
  if (!account) throw new CommandError(`There is no account "${idOrName}".`);
  return account;
}
