import { eq, or } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { Account } from "./account.ts";
import { readAccount } from "./read-account.ts";

/** Finds an account by its id or its name; no name is another account's id. */
export async function findAccount(
  { db, tables: { accounts } }: Database,
  idOrName: string,
): Promise<Account | undefined> {
  const isMeant = or(eq(accounts.id, idOrName), eq(accounts.name, idOrName));
  const [row] = await db.select().from(accounts).where(isMeant);
  return row && readAccount(row);
}
