import { asc } from "drizzle-orm";
import type { SqliteDatabase } from "../db/sqlite/database.ts";
import { accounts } from "../db/sqlite/schema.ts";
import type { Account } from "./account.ts";
import { readAccount } from "./read-account.ts";

/** Every account, oldest first. */
export function listAccounts({ db }: SqliteDatabase): readonly Account[] {
  return db
    .select()
    .from(accounts)
    .orderBy(asc(accounts.createdAtMs), asc(accounts.id))
    .all()
    .map(readAccount);
}
