import { and, inArray, isNotNull, isNull, lt } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { DAY_MS } from "../../domain/id-time.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { putSpendingLimit } from "../spending-limits.ts";

interface SweepParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "setSpendLimit" | "deleteSpendLimit">;
  readonly now: () => number;
}

/** The most limits, or keys, of one step. */
const SWEPT_MAX = 500;
/** The most steps of one sweep. */
const STEPS_MAX = 10;
/** The time in a receipt's id may differ so much from that of its request, and a request may outlive its key. */
const MARGIN_MS = 2 * DAY_MS;

/**
 * Removes the spending limits of keys that keys made, a day after their end: reads of all limits of an account stay
 * short. The keys stay, for the names of their receipts. Returns how many limits it removed.
 */
export async function sweepChildLimits(parts: SweepParts): Promise<number> {
  let removed = 0;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const limits = await removeLimits(parts);
    removed += limits;
    if (limits < SWEPT_MAX) break;
  }
  return removed;
}

async function removeLimits({ database, ledger, now }: SweepParts): Promise<number> {
  const { apiKeys } = database.tables;
  const isOver = and(isNotNull(apiKeys.parentDigest), lt(apiKeys.expiresAtMs, now() - DAY_MS));
  const { id, accountId } = apiKeys;
  const ended = await database.db.select({ id, accountId }).from(apiKeys).where(isOver).limit(SWEPT_MAX);
  if (ended.length === 0) return 0;
  await Promise.all(
    ended.map((key) => putSpendingLimit(ledger, key.accountId, { kind: "key", keyId: key.id }, null)),
  );
  const ids = ended.map((key) => key.id);
  const set = { parentDigest: null };
  await database.transact((tx) => tx.update(apiKeys).set(set).where(inArray(apiKeys.id, ids)));
  return ended.length;
}

interface KeySweepParts extends Pick<SweepParts, "database"> {
  /** Returns the Unix milliseconds before which no receipt is kept. */
  keptFromMs(): Promise<number>;
}

/**
 * Deletes keys that keys made, once they have ended and all receipts are dropped of the time in which they were in
 * force. Their audit entries stay. Returns how many it deleted.
 */
export async function sweepEndedChildren({ database, keptFromMs }: KeySweepParts): Promise<number> {
  const { apiKeys } = database.tables;
  const beforeMs = (await keptFromMs()) - MARGIN_MS;
  const isGone = and(
    isNotNull(apiKeys.parentId),
    isNull(apiKeys.parentDigest),
    lt(apiKeys.expiresAtMs, beforeMs),
  );
  let deleted = 0;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const rows = await database.db.select({ id: apiKeys.id }).from(apiKeys).where(isGone).limit(SWEPT_MAX);
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) await database.transact((tx) => tx.delete(apiKeys).where(inArray(apiKeys.id, ids)));
    deleted += ids.length;
    if (ids.length < SWEPT_MAX) break;
  }
  return deleted;
}
