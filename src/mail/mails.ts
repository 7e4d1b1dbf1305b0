import { and, eq, gte, isNull } from "drizzle-orm";
import type { Database, Db } from "../db/database.ts";
import { firstIdOf, HOUR_MS } from "../domain/id-time.ts";
import { isMailAddress } from "../domain/mail-address.ts";

/** A mail to send. The table of mails holds no token: its link is made when the mail is sent. */
export interface MailOrder {
  readonly template: MailTemplate;
  /** One plain address. */
  readonly address: string;
  /** What the template shows, and what {@link MintLink} needs; in JSON, without secrets. */
  readonly data: Readonly<Record<string, unknown>>;
}

export type MailTemplate =
  | "password_reset"
  | "email_verification"
  | "invitation"
  | "notice"
  | "payment_reversed";

/** Mails that let a person in. They go first, and keep a place free of others. */
export const URGENT: readonly MailTemplate[] = ["password_reset", "email_verification"];
/**
 * Mails to one address within an hour, of all orders. Each mail of a new password has a link that works: an
 * order above the bound would bring nothing that the person has not received.
 */
const HOURLY_MAX: Readonly<Record<MailTemplate, number>> = {
  password_reset: 3,
  email_verification: 3,
  invitation: 10,
  notice: 60,
  payment_reversed: 60,
};

export function isUrgent(template: MailTemplate): boolean {
  return URGENT.includes(template);
}

/**
 * Makes the link of a mail that is about to be sent, with a new token in it. Called again for each try.
 * `undefined` drops the mail, for example when its person is unknown.
 */
export type MintLink = (order: MailOrder) => Promise<{ readonly link: string } | undefined>;

interface EnqueueOptions {
  /** Makes repetitions one mail. Default: a new id. */
  readonly id?: string | undefined;
}

/** The mails of a database. */
export interface Mails {
  /**
   * Orders a mail in the transaction of the change that needs it. It is sent within seconds of the commit.
   * Ignores an address that is no plain e-mail address, and one that had as many of these mails within the hour as
   * it may have.
   */
  enqueue(tx: Db, order: MailOrder, options?: EnqueueOptions): Promise<void>;
}

/** `onOrder` wakes the workers of this process. Those of other processes look every five seconds. */
export function createMails(
  { tables }: Pick<Database, "tables">,
  now: () => number = Date.now,
  onOrder: () => void = () => undefined,
): Mails {
  return {
    async enqueue(tx, { template, address, data }, { id } = {}) {
      const nowMs = now();
      if (!isMailAddress(address) || (await hasEnough(tx, { tables, template, address, nowMs }))) return;
      await tx
        .insert(tables.mails)
        .values({
          id: id ?? Bun.randomUUIDv7("hex", nowMs),
          template,
          address,
          data: JSON.stringify(data),
          createdAtMs: nowMs,
          nextAtMs: nowMs,
        })
        .onConflictDoNothing();
      onOrder();
    },
  };
}

interface Received {
  readonly tables: Database["tables"];
  readonly template: MailTemplate;
  readonly address: string;
  readonly nowMs: number;
}

/** Whether an address had the mails of an hour. Ids are UUIDv7, so that the primary key finds those of the hour. */
async function hasEnough(
  tx: Db,
  { tables: { mails }, template, address, nowMs }: Received,
): Promise<boolean> {
  const max = HOURLY_MAX[template];
  const since = gte(mails.id, firstIdOf(nowMs - HOUR_MS));
  const isReceived = and(eq(mails.address, address), eq(mails.template, template), isNull(mails.failedAtMs));
  const received = await tx.select({ id: mails.id }).from(mails).where(and(since, isReceived)).limit(max);
  return received.length >= max;
}
