import type { Database, Db } from "../db/database.ts";
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
   * Ignores an address that is no plain e-mail address.
   */
  enqueue(tx: Db, order: MailOrder, options?: EnqueueOptions): Promise<void>;
  /** Announces a delivery of another kind, such as a webhook, to the workers of this process. */
  announce(): void;
}

/** `onOrder` wakes the workers of this process. Those of other processes look every five seconds. */
export function createMails(
  { tables }: Pick<Database, "tables">,
  now: () => number = Date.now,
  onOrder: () => void = () => undefined,
): Mails {
  return {
    announce: onOrder,
    async enqueue(tx, { template, address, data }, { id } = {}) {
      if (!isMailAddress(address)) return;
      const nowMs = now();
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
