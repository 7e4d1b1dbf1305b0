import { asc, eq } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { ApiKey } from "./key.ts";
import { readKey } from "./read-key.ts";

/** The keys of one account or of all, oldest first, the revoked ones too. */
export async function listKeys(
  { db, tables: { apiKeys } }: Database,
  accountId?: string,
): Promise<readonly ApiKey[]> {
  const isWanted = accountId === undefined ? undefined : eq(apiKeys.accountId, accountId);
  const order = [asc(apiKeys.createdAtMs), asc(apiKeys.id)];
  const rows = await db
    .select()
    .from(apiKeys)
    .where(isWanted)
    .orderBy(...order);
  return rows.map(readKey);
}
