import type { Account } from "../accounts/account.ts";
import { findAccount } from "../accounts/find.ts";
import { openBooks } from "../books.ts";
import { loadBooksConfig } from "../config.ts";
import type { Database } from "../db/database.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { CommandError } from "./command-error.ts";

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

/** The same for work that the ledger itself must be at hand for. */
export async function withLocalBooks<T>(work: (books: Books) => Promise<T>): Promise<T> {
  if (loadBooksConfig().ledger.remote) {
    throw new CommandError("LEDGER_URL names another ledger: run this where the database of that ledger is.");
  }
  return withBooks(work);
}

/** The account that `--account` names by id or name. */
export async function requireAccount(database: Database, idOrName: string): Promise<Account> {
  const account = await findAccount(database, idOrName);
  if (!account) throw new CommandError(`There is no account "${idOrName}".`);
  return account;
}
