import { asc, eq } from "drizzle-orm";
import type { SqliteDatabase } from "../db/sqlite/database.ts";
import { apiKeys } from "../db/sqlite/schema.ts";
import type { ApiKey } from "./key.ts";
import { readKey } from "./read-key.ts";

/** The keys of one account or of all, oldest first, the revoked ones too. */
export function listKeys({ db }: SqliteDatabase, accountId?: string): readonly ApiKey[] {
  const isWanted = accountId === undefined ? undefined : eq(apiKeys.accountId, accountId);
  const order = [asc(apiKeys.createdAtMs), asc(apiKeys.id)];
  return db
    .select()
    .from(apiKeys)
    .where(isWanted)
    .orderBy(...order)
    .all()
    .map(readKey);
}
