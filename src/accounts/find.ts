import { eq, or } from "drizzle-orm";
import type { SqliteDatabase } from "../db/sqlite/database.ts";
import { accounts } from "../db/sqlite/schema.ts";
import type { Account } from "./account.ts";
import { readAccount } from "./read-account.ts";

/** Finds an account by its id or its name; no name is another account's id. */
export function findAccount({ db }: SqliteDatabase, idOrName: string): Account | undefined {
  const isMeant = or(eq(accounts.id, idOrName), eq(accounts.name, idOrName));
  const row = db.select().from(accounts).where(isMeant).get();
  return row && readAccount(row);
}
