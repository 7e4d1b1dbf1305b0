import type { MailOrder, MailTemplate } from "./mails.ts";

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
  payment_reversed: ({ text }) => ({
    subject: `Tollgate: ${typeof text === "string" ? oneLine(text) : "a payment was reversed"}`,
    above: [
      `${typeof text === "string" ? oneLine(text) : "A payment was reversed at Stripe."}.`,
      "The wallet that it topped up is unchanged. Correct its balance on the page of accounts:",
    ],
    below: ["Stripe's dashboard finds the payment by its id. You get this mail as an operator."],
  }),
  notice: ({ text, account_name }) => ({
    subject: `Tollgate: ${typeof text === "string" ? oneLine(text) : "a notice"}`,
    above: [
      `${typeof text === "string" ? oneLine(text) : "A notice was raised."}`,
      `Account: ${quoteName(account_name) ?? "see the console"}. Details:`,
    ],
    below: ["The rule of this notice is in the settings of the account."],
  }),
};

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

/**
 * Quotes a name that a customer chose. `undefined` for one that a mail program could show as a link: a
 * stranger would otherwise send links of theirs in our name.
 */
export function quoteName(name: unknown): string | undefined {
  if (typeof name !== "string" || name.trim() === "" || name.length > 100) return undefined;
  if (/[\p{Cc}\p{Cf}]|:\/\/|[\p{L}\d][.。]\p{L}|@/u.test(name)) return undefined;
  return `“${name.trim()}”`;
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
