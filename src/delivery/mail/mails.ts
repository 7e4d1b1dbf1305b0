import { and, eq, gte, isNull } from "drizzle-orm";
import type { Database, Db } from "../../db/database.ts";
import { firstIdOf, HOUR_MS } from "../../domain/id-time.ts";
import { isMailAddress } from "../../domain/mail-address.ts";
import { quoteName } from "../../domain/shown-name.ts";

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
  | "subject_notice"
  | "payment_reversed"
  | "auto_top_up";

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
  // Counted apart, so that end users and runs take no place of the wallet's and the keys' notices.
  subject_notice: 30,
  payment_reversed: 60,
  auto_top_up: 30,
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

/** A mail as it is sent. */
export interface MailText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

interface Shown {
  /** Origin of the console. */
  readonly publicUrl: string;
  readonly link: string;
}

/** The parts of a mail: a subject, paragraphs above the link, and paragraphs below it. */
interface Parts {
  readonly subject: string;
  readonly above: readonly string[];
  readonly below: readonly string[];
}

type Data = MailOrder["data"];

const TEMPLATES: Readonly<Record<MailTemplate, (data: Data) => Parts>> = {
  password_reset: () => ({
    subject: "Choose a new password for Tollgate",
    above: ["A new password was requested for this address. This link lets you choose one:"],
    below: ["The link works once. If it was not you, ignore this mail: nothing has changed."],
  }),
  email_verification: () => ({
    subject: "Confirm your address for Tollgate",
    above: ["This link confirms that this address is yours:"],
    below: ["If you have no account of this address, ignore this mail."],
  }),
  invitation: ({ account_name, role }) => ({
    subject: `Invitation to ${quoteName(account_name) ?? "an account"} on Tollgate`,
    above: [
      `You are invited to ${quoteName(account_name) ?? "an account"}${describeRole(role)}. Accept it here:`,
    ],
    below: ["If you do not know the sender, ignore this mail."],
  }),
  payment_reversed: ({ text, effect }) => ({
    subject: `Tollgate: ${typeof text === "string" ? oneLine(text) : "a payment was reversed"}`,
    above: [
      `${typeof text === "string" ? oneLine(text) : "A payment was reversed at Stripe."}.`,
      `${typeof effect === "string" ? oneLine(effect) : "Its wallet is unchanged: correct its balance."} The accounts:`,
    ],
    below: ["Stripe's dashboard finds the payment by its id. You get this mail as an operator."],
  }),
  auto_top_up: ({ text, account_name }) => ({
    subject: `Tollgate: ${typeof text === "string" ? oneLine(text) : "automatic top-up"}`,
    above: [
      `${typeof text === "string" ? oneLine(text) : "See the wallet"}.`,
      `Account: ${quoteName(account_name) ?? "see the console"}. Top up, choose another card or other amounts here:`,
    ],
    below: ["You get this mail as an owner of the account."],
  }),
  notice: writeNotice,
  subject_notice: writeNotice,
};

/** A notice as a mail. */
function writeNotice({ text, account_name }: Data): Parts {
  return {
    subject: `Tollgate: ${typeof text === "string" ? oneLine(text) : "a notice"}`,
    above: [
      `${typeof text === "string" ? oneLine(text) : "A notice was raised."}`,
      `Account: ${quoteName(account_name) ?? "see the console"}. Details:`,
    ],
    below: ["The rule of this notice is in the settings of the account."],
  };
}

/** Writes a mail: plain text, and HTML of the same words. */
export function writeMail(order: MailOrder, { publicUrl, link }: Shown): MailText {
  const { subject, above, below } = TEMPLATES[order.template](order.data);
  const paragraphs = [...above, link, ...below, `Sent by the Tollgate at ${publicUrl}`];
  const html = paragraphs.map((text) => (text === link ? linkTo(link) : escapeHtml(text)));
  return {
    subject: subject.slice(0, 150),
    text: `${paragraphs.join("\n\n")}\n`,
    html: `<!doctype html><html lang="en"><body>${html.map((line) => `<p>${line}</p>`).join("")}</body></html>`,
  };
}

const ROLES: Readonly<Record<string, string>> = {
  owner: " as an owner",
  developer: " as a developer",
  viewer: " as a viewer",
};

function describeRole(role: unknown): string {
  return (typeof role === "string" && ROLES[role]) || "";
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
}

function linkTo(link: string): string {
  const escaped = escapeHtml(link);
  return `<a href="${escaped}">${escaped}</a>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
