import { and, inArray, isNotNull, lt } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { DAY_MS } from "../../domain/id-time.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { putSpendingLimit } from "../spending-limits.ts";

interface SweepParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "setSpendLimit" | "deleteSpendLimit">;
  readonly now: () => number;
}

/** The most limits of one sweep. */
const SWEPT_MAX = 500;

/**
 * Removes the spending limits of keys that keys made, a day after their end: reads of all limits of an account stay
 * short. The keys stay, for the names of their receipts. Returns how many limits it removed.
 */
export async function sweepChildLimits({ database, ledger, now }: SweepParts): Promise<number> {
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
