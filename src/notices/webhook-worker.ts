import { and, asc, eq, gt, isNotNull, lte, or, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { signBody } from "../domain/signature.ts";
import {
  AHEAD_MS_MAX,
  type DeliveryOptions,
  type DeliveryQueue,
  type DueItem,
  startDeliveryWorker,
} from "../mail/delivery-worker.ts";
import type { Log } from "../telemetry/log.ts";
import { POST_MS_MAX, type PostOptions, postWebhook } from "./webhook-post.ts";
import { readWebhookSecret } from "./webhook-secret.ts";

/** Receivers may be slow, and a waiting call costs little. */
const CONCURRENT_MAX = 64;

interface QueuedCall extends DueItem {
  readonly url: string;
  readonly body: string;
  readonly ruleId: string;
}

export interface WebhookWorkerOptions
  extends PostOptions,
    Pick<DeliveryOptions<QueuedCall>, "backoffMs" | "pollMs" | "now"> {
  readonly database: Database;
  readonly log: Log;
}

/** Calls the webhooks of the database. A status from 200 to 299 is a delivery; any other is tried again. */
export function startWebhookWorker({ database, ...options }: WebhookWorkerOptions) {
  const { now = Date.now, timeoutMs = POST_MS_MAX } = options;
  return startDeliveryWorker({
    ...options,
    noun: "webhook",
    queue: createCallQueue(database, now),
    claimMs: 2 * timeoutMs + 10_000,
    concurrentMax: CONCURRENT_MAX,
    async deliver({ id, url, body, ruleId }) {
      const secret = await readWebhookSecret(database, ruleId);
      const headers = { "tollgate-delivery": id, "tollgate-signature": signBody(secret, body, now()) };
      const status = await postWebhook({ url, body, headers }, options).catch(async (fault) => {
        await keepStatus(database, id, null);
        throw fault;
      });
      await keepStatus(database, id, status);
      if (status < 200 || status > 299) throw new Error("The receiver refused");
      return true;
    },
  });
}

/** Keeps what the receiver answered last, for the list of deliveries. */
async function keepStatus(
  { transact, tables: { webhookCalls: calls } }: Database,
  id: string,
  lastStatus: number | null,
): Promise<void> {
  await transact(async (tx) => void (await tx.update(calls).set({ lastStatus }).where(eq(calls.id, id))));
}

function createCallQueue(
  { db, transact, tables: { notices, webhookCalls: calls } }: Database,
  now: () => number,
): DeliveryQueue<QueuedCall> {
  const turn = sql`row_number() over (partition by ${notices.accountId} order by ${calls.nextAtMs})`;
  return {
    async due(nowMs, countMax) {
      const isDue = or(lte(calls.nextAtMs, nowMs), gt(calls.nextAtMs, nowMs + AHEAD_MS_MAX));
      const { id, attempts, url, body } = calls;
      const rows = await db
        .select({ id, attempts, url, body, ruleId: notices.ruleId, owner: notices.accountId })
        .from(calls)
        .innerJoin(notices, eq(notices.id, calls.noticeId))
        .where(and(isNotNull(calls.nextAtMs), isDue))
        .orderBy(asc(turn), asc(calls.nextAtMs))
        .limit(countMax);
      return rows.map((row) => ({ ...row, isUrgent: false }));
    },
    async claim({ id, attempts }, untilMs) {
      const isUnclaimed = and(eq(calls.id, id), eq(calls.attempts, attempts), isNotNull(calls.nextAtMs));
      const claim = { attempts: attempts + 1, nextAtMs: untilMs };
      const claimed = await transact((tx) =>
        tx.update(calls).set(claim).where(isUnclaimed).returning({ id: calls.id }),
      );
      return claimed.length > 0;
    },
    async end({ id, attempts }, end) {
      const nowMs = now();
      // A process that was frozen while it called must not end a later try of another one.
      const isWaiting = and(eq(calls.id, id), isNotNull(calls.nextAtMs), lte(calls.attempts, attempts + 1));
      const changes = {
        delivered: { nextAtMs: null, deliveredAtMs: nowMs },
        failed: { nextAtMs: null, failedAtMs: nowMs },
        again: { nextAtMs: end.kind === "again" ? end.atMs : null },
      };
      await transact(async (tx) => void (await tx.update(calls).set(changes[end.kind]).where(isWaiting)));
    },
  };
}
