import { and, eq, inArray } from "drizzle-orm";
import type { Database } from "../db/database.ts";

/** Ids of one query. */
const IDS_MAX = 500;

/**
 * Finds the names of keys by their ids, among those of one account or of all. A receipt of an internal service
 * may name any key: an account sees the names of its own only.
 */
export async function findKeyNames(
  { db, tables: { apiKeys } }: Database,
  accountId: string | undefined,
  keyIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(keyIds)];
  const names = new Map<string, string>();
  for (let from = 0; from < ids.length; from += IDS_MAX) {
    const isNamed = inArray(apiKeys.id, ids.slice(from, from + IDS_MAX));
    const isOwn = accountId === undefined ? undefined : eq(apiKeys.accountId, accountId);
    const rows = await db
      .select({ id: apiKeys.id, name: apiKeys.name })
      .from(apiKeys)
      .where(and(isNamed, isOwn));
    for (const { id, name } of rows) names.set(id, name);
  }
  return names;
}

/** Finds the names of accounts by their ids. */
export async function findAccountNames(
  { db, tables: { accounts } }: Database,
  accountIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(accountIds)];
  const names = new Map<string, string>();
  for (let from = 0; from < ids.length; from += IDS_MAX) {
    const isNamed = inArray(accounts.id, ids.slice(from, from + IDS_MAX));
    const rows = await db.select({ id: accounts.id, name: accounts.name }).from(accounts).where(isNamed);
    for (const { id, name } of rows) names.set(id, name);
  }
  return names;
}
