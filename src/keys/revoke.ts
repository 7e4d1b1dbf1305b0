import { and, eq, isNull } from "drizzle-orm";
import type { SqliteDatabase } from "../db/sqlite/database.ts";
import { apiKeys } from "../db/sqlite/schema.ts";

export interface RevokeParts {
  readonly database: SqliteDatabase;
  readonly now?: () => number;
}

/**
 * Revokes a key for good; every process refuses it within a second. Returns whether this call did it:
 * `false` for a key that is unknown or was revoked before.
 */
export function revokeKey({ database, now = Date.now }: RevokeParts, keyId: string): boolean {
  const revoked = database.db
    .update(apiKeys)
    .set({ revokedAtMs: now() })
    .where(and(eq(apiKeys.id, keyId), isNull(apiKeys.revokedAtMs)))
    .returning({ id: apiKeys.id })
    .all();
  return revoked.length > 0;
}
