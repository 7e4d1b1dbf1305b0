import { and, eq, isNull } from "drizzle-orm";
import type { Database } from "../db/database.ts";

export interface RevokeParts {
  readonly database: Database;
  readonly now?: () => number;
}

/**
 * Revokes a key for good; every process refuses it within a second, and ends its running requests within two
 * more. Resolves with whether this call did it: `false` for a key that is unknown or was revoked before.
 */
export async function revokeKey({ database, now = Date.now }: RevokeParts, keyId: string): Promise<boolean> {
  const { db, tables } = database;
  const { apiKeys } = tables;
  const revoked = await db
    .update(apiKeys)
    .set({ revokedAtMs: now() })
    .where(and(eq(apiKeys.id, keyId), isNull(apiKeys.revokedAtMs)))
    .returning({ id: apiKeys.id });
  return revoked.length > 0;
}
