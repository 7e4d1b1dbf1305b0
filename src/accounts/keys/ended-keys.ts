import { and, eq, isNull } from "drizzle-orm";
import { type Database, isInList, listOf } from "../../db/database.ts";
import { parentsOf } from "./key-row.ts";

/**
 * Returns a function that finds which of some keys were revoked or deleted, also by way of a key above them, or belong
 * to a suspended account. It takes at most 1,000 ids. Expired keys are not found: a request that began before the
 * expiry may finish.
 */
export function createFindEndedKeys(
  database: Database,
): (keyIds: readonly string[]) => Promise<ReadonlyMap<string, "revoked" | "suspended">> {
  const { accounts, apiKeys } = database.tables;
  const { parentId, parent2Id, parent3Id } = apiKeys;
  const parents = { parentId, parent2Id, parent3Id };
  // Built once: each gateway runs it every second.
  const query = database.db
    .select({ id: apiKeys.id, state: accounts.state, parents })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .where(and(isInList(database, apiKeys.id), isNull(apiKeys.revokedAtMs)))
    .prepare();
  return async (keyIds) => {
    const rows = await query.execute(listOf(database, keyIds));
    // A program of an earlier version revokes a key without those below it.
    const above = new Set(rows.flatMap((row) => parentsOf(row.parents)));
    const living = above.size === 0 ? [] : await query.execute(listOf(database, [...above]));
    for (const { id } of living) above.delete(id);
    const isInForce = (row: (typeof rows)[number]) => !parentsOf(row.parents).some((id) => above.has(id));
    const states = new Map(rows.filter(isInForce).map(({ id, state }) => [id, state]));
    const ended = new Map<string, "revoked" | "suspended">();
    for (const id of keyIds) {
      const state = states.get(id);
      if (state === undefined) ended.set(id, "revoked");
      else if (state === "suspended") ended.set(id, "suspended");
    }
    return ended;
  };
}
