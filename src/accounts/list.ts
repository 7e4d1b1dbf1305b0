import { asc } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { Account } from "./account.ts";
import { readAccount } from "./read-account.ts";

/** Every account, oldest first. */
export async function listAccounts({ db, tables: { accounts } }: Database): Promise<readonly Account[]> {
  const order = [asc(accounts.createdAtMs), asc(accounts.id)];
  const rows = await db
    .select()
    .from(accounts)
    .orderBy(...order);
  return rows.map(readAccount);
}
