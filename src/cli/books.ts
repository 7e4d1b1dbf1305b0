import type { Account } from "../accounts/account.ts";
import { findAccount } from "../accounts/find.ts";
import { loadDatabasePath } from "../config.ts";
import { openDatabase, type SqliteDatabase } from "../db/sqlite/database.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { createSqliteLedger } from "../ledger/sqlite.ts";
import { CommandError } from "./command-error.ts";

/** What a command works on; a running server may hold the same file open. */
export interface Books {
  readonly database: SqliteDatabase;
  readonly ledger: Ledger;
}

/** Opens the database of the environment for one piece of work and closes it whatever happens. */
export async function withBooks<T>(work: (books: Books) => Promise<T>): Promise<T> {
  const database = openDatabase(loadDatabasePath());
  try {
    const ledger = createSqliteLedger({ database });
    return await work({ database, ledger }).finally(() => ledger.close());
  } finally {
    database.close();
  }
}

/** The account that `--account` names by id or name. */
export function requireAccount(database: SqliteDatabase, idOrName: string): Account {
  const account = findAccount(database, idOrName);
  if (!account) throw new CommandError(`There is no account "${idOrName}".`);
  return account;
}
