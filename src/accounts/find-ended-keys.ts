import { and, eq, inArray, isNull } from "drizzle-orm";
import type { Database } from "../db/database.ts";

/**
 * Returns those of some keys that were revoked or deleted, or whose account is suspended; at most 1,000 keys,
 * in one query. A key that has expired is not among them: it ends by its date, which its requests were begun
 * before.
 */
export async function findEndedKeys(
  { db, tables: { accounts, apiKeys } }: Database,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, "revoked" | "suspended">> {
  const rows = await db
    .select({ id: apiKeys.id, state: accounts.state })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .where(and(inArray(apiKeys.id, [...keyIds]), isNull(apiKeys.revokedAtMs)));
  const states = new Map(rows.map(({ id, state }) => [id, state]));
  const ended = new Map<string, "revoked" | "suspended">();
  for (const id of keyIds) {
    const state = states.get(id);
    if (state === undefined) ended.set(id, "revoked");
    else if (state === "suspended") ended.set(id, "suspended");
  }
  return ended;
}
