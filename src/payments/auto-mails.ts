import { and, eq } from "drizzle-orm";
import type { Database, Db } from "../db/database.ts";
import type { Mails } from "../delivery/mail/mails.ts";
import { printUsd } from "../domain/money.ts";
import type { AutoPayment, AutoTopUp } from "./auto-top-ups.ts";

interface MailParts {
  readonly database: Database;
  readonly mails: Mails;
}

interface AutoMail {
  readonly accountId: string;
  /** One mail to each owner per id. */
  readonly id: string;
  readonly text: string;
}

/** Mails every owner of an account about its automatic top-up, in the transaction of the change. */
export async function mailOwners(
  { database: { tables }, mails }: MailParts,
  tx: Db,
  { accountId, id, text }: AutoMail,
): Promise<void> {
  const { accounts, members, people } = tables;
  const isOwner = and(eq(members.accountId, accountId), eq(members.role, "owner"));
  const owners = await tx
    .select({ id: people.id, email: people.email, account: accounts.name })
    .from(members)
    .innerJoin(people, eq(people.id, members.personId))
    .innerJoin(accounts, eq(accounts.id, members.accountId))
    .where(isOwner);
  for (const { id: personId, email, account } of owners) {
    const data = { text, account_id: accountId, account_name: account };
    await mails.enqueue(tx, { template: "auto_top_up", address: email, data }, { id: `${id}:${personId}` });
  }
}

/** Says that a payment failed, and what became of the automatic top-up. */
export function describeFailure({ amount }: AutoPayment, code: string, isOff: boolean): string {
  const needsOwner = code === "authentication_required" || code === "requires_action";
  const failure = needsOwner
    ? "must be confirmed by the owner of the card"
    : `failed (${code.replaceAll("_", " ")})`;
  const end = isOff
    ? "Automatic top-up is switched off after two failed payments"
    : "Automatic top-up has stopped until the balance was above its threshold";
  return `The automatic top-up of ${printUsd(amount)} USD ${failure}. ${end}`;
}

/** Says that the maximum of the month allows no further payment. */
export function describeCap({ monthMax }: AutoTopUp, month: string): string {
  return `Automatic top-up has reached its maximum of ${printUsd(monthMax)} USD for ${month}`;
}
