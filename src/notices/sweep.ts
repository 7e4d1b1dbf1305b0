import { and, inArray, isNotNull, lt } from "drizzle-orm";
import type { Database } from "../db/database.ts";

/** Notices, and the webhook calls with their bodies, are kept for 90 days. */
const KEPT_MS = 90 * 86_400_000;
const SWEPT_MAX = 500;

/**
 * Deletes up to 500 ended notices that were raised over 90 days ago, with their webhook calls. A notice whose
 * threshold is still crossed is kept. Returns the number of notices.
 */
export async function sweepNotices(
  { db, transact, tables: { notices, webhookCalls } }: Database,
  nowMs: number,
): Promise<number> {
  // Ids begin with their time, so that the primary key finds old ones.
  const eldestKept = Bun.randomUUIDv7("hex", Math.max(nowMs - KEPT_MS, 0));
  const isOld = and(
    lt(notices.id, eldestKept),
    lt(notices.raisedAtMs, nowMs - KEPT_MS),
    isNotNull(notices.endedAtMs),
  );
  const rows = await db.select({ id: notices.id }).from(notices).where(isOld).limit(SWEPT_MAX);
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return 0;
  await transact(async (tx) => {
    await tx.delete(webhookCalls).where(inArray(webhookCalls.noticeId, ids));
    await tx.delete(notices).where(inArray(notices.id, ids));
  });
  return ids.length;
}
