import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, lt, lte, or, sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { DAY_MS } from "../../domain/id-time.ts";
import { repeat } from "../../platform.ts";
import { describeFault, type Log } from "../../telemetry/log.ts";
import {
  AHEAD_MS_MAX,
  type DeliveryOptions,
  type DeliveryQueue,
  type DueItem,
  startDeliveryWorker,
} from "../delivery-worker.ts";
import { isUrgent, type MailOrder, type MailTemplate, type MintLink, URGENT, writeMail } from "./mails.ts";
import { SEND_MS_MAX, type SendMail } from "./transport.ts";

/** Mails and their addresses are kept for 30 days after they were ordered. */
const KEPT_MS = 30 * DAY_MS;
const SWEEP_MS = 3_600_000;

type QueuedMail = DueItem & MailOrder;

export interface MailWorkerOptions extends Pick<DeliveryOptions<QueuedMail>, "backoffMs" | "pollMs" | "now"> {
  readonly database: Database;
  readonly send: SendMail;
  readonly mint: MintLink;
  /** Origin of the console. */
  publicUrl(): string;
  readonly log: Log;
}

/** Sends the mails of the database, and deletes old ones. */
export function startMailWorker({ database, send, mint, publicUrl, ...options }: MailWorkerOptions) {
  const { now = Date.now } = options;
  const worker = startDeliveryWorker({
    ...options,
    noun: "mail",
    queue: createMailQueue(database, now),
    claimMs: 2 * SEND_MS_MAX,
    async deliver(mail) {
      const minted = await mint(mail);
      if (!minted) return false;
      const text = writeMail(mail, { publicUrl: publicUrl(), link: minted.link });
      await send({ ...text, id: mail.id, address: mail.address });
      return true;
    },
  });
  const sweeps = repeat({
    everyMs: SWEEP_MS,
    run: () => sweepMails(database, now()),
    onFault: (fault) => options.log.warn(describeFault(fault), "mail sweep failed"),
  });
  return {
    wake: worker.wake,
    async close() {
      await Promise.all([sweeps.close(), worker.close()]);
    },
  };
}

/** Deletes mails that ended and were ordered over 30 days ago. */
export async function sweepMails({ transact, tables: { mails } }: Database, nowMs: number): Promise<void> {
  const isOld = and(isNull(mails.nextAtMs), lt(mails.createdAtMs, nowMs - KEPT_MS));
  await transact(async (tx) => void (await tx.delete(mails).where(isOld)));
}

function createMailQueue(
  { db, transact, tables: { mails } }: Database,
  now: () => number,
): DeliveryQueue<QueuedMail> {
  const turn = sql`row_number() over (partition by ${mails.address} order by ${mails.nextAtMs})`;
  return {
    async due(nowMs, countMax) {
      const isDue = or(lte(mails.nextAtMs, nowMs), gt(mails.nextAtMs, nowMs + AHEAD_MS_MAX));
      const rows = await db
        .select()
        .from(mails)
        .where(and(isNotNull(mails.nextAtMs), isDue))
        .orderBy(desc(inArray(mails.template, [...URGENT])), asc(turn), asc(mails.nextAtMs))
        .limit(countMax);
      return rows.map((row) => ({
        id: row.id,
        attempts: row.attempts,
        // Safe because only `enqueue` writes these rows.
        template: row.template as MailTemplate,
        address: row.address,
        data: JSON.parse(row.data),
        owner: row.address,
        isUrgent: isUrgent(row.template as MailTemplate),
      }));
    },
    async claim({ id, attempts }, untilMs) {
      const isUnclaimed = and(eq(mails.id, id), eq(mails.attempts, attempts), isNotNull(mails.nextAtMs));
      const claim = { attempts: attempts + 1, nextAtMs: untilMs };
      const claimed = await transact((tx) =>
        tx.update(mails).set(claim).where(isUnclaimed).returning({ id: mails.id }),
      );
      return claimed.length > 0;
    },
    async end({ id, attempts }, end) {
      const nowMs = now();
      // A process that was frozen while it sent must not end a later try of another one.
      const isWaiting = and(eq(mails.id, id), isNotNull(mails.nextAtMs), lte(mails.attempts, attempts + 1));
      const changes = {
        delivered: { nextAtMs: null, sentAtMs: nowMs },
        failed: { nextAtMs: null, failedAtMs: nowMs },
        again: { nextAtMs: end.kind === "again" ? end.atMs : null },
      };
      await transact(async (tx) => void (await tx.update(mails).set(changes[end.kind]).where(isWaiting)));
    },
  };
}
