import { and, inArray, isNotNull, lt } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { endLease, tryLease } from "../db/leases.ts";
import { DAY_MS } from "../domain/id-time.ts";
import { platform, repeat } from "../platform.ts";
import { describeFault } from "../telemetry/log.ts";
import { NoticePass, type PassParts } from "./pass.ts";
import { sweepCrossings } from "./subject-crossings.ts";
import {
  type AttemptTotals,
  createAttemptWindow,
  publishAttempts,
  withdrawAttempts,
} from "./upstream-attempts.ts";

interface WatchParts extends PassParts {
  /** Attempts at upstreams since the start of this process. */
  attempts(): AttemptTotals;
}

interface WatchOptions {
  readonly passMs?: number | undefined;
  /** How long a threshold must not be crossed before its episode ends. */
  readonly calmMs?: number | undefined;
}

const JOB = "notices";
const PASS_MS = 15_000;
/** An episode ends only after a minute: holds that come and go would else raise a notice each. */
const CALM_MS = 60_000;
const LEASE_MS = 60_000;
const SWEEP_MS = 3_600_000;

/**
 * Watches the thresholds of all rules and deletes old notices, in one process per database at a time. Every
 * process publishes its attempts at upstreams.
 */
export function startNoticeWatch(
  parts: WatchParts,
  { passMs = PASS_MS, calmMs = CALM_MS }: WatchOptions = {},
) {
  const { database, now, log } = parts;
  const holder = platform.uuid();
  const lease = { job: JOB, holder, ms: Math.max(LEASE_MS, 4 * passMs) };
  const attemptWindow = createAttemptWindow(parts.attempts);
  const pass = new NoticePass(parts, calmMs);
  let isAway = false;
  let sweptAtMs = Number.NEGATIVE_INFINITY;

  const passes = repeat({
    everyMs: passMs,
    async run() {
      const atMs = now();
      const totals = attemptWindow.renew(atMs);
      if (totals.size > 0) await publishAttempts(database, holder, { atMs, totals });
      if (await tryLease(database, lease, now)) {
        await pass.run();
        await sweepEveryHour(atMs);
      }
      isAway = false;
    },
    onFault(fault) {
      if (!isAway) log.warn(describeFault(fault), "notices not watched");
      isAway = true;
    },
  });

  /** A full batch is followed by the next one at the next pass. */
  async function sweepEveryHour(atMs: number): Promise<void> {
    if (Math.abs(atMs - sweptAtMs) < SWEEP_MS) return;
    const swept = (await sweepNotices(database, atMs)) + (await sweepCrossings(database, atMs));
    if (swept === 0) sweptAtMs = atMs;
  }

  return {
    async close(): Promise<void> {
      pass.stop();
      await passes.close();
      await Promise.all([withdrawAttempts(database, holder), endLease(database, lease)]).catch(
        () => undefined,
      );
    },
  };
}

/** Notices, and the webhook calls with their bodies, are kept for 90 days. */
const KEPT_MS = 90 * DAY_MS;
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
  const eldestKept = platform.uuidV7(Math.max(nowMs - KEPT_MS, 0));
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
