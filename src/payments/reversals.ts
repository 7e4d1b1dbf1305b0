import { and, eq } from "drizzle-orm";
import { recordChange, SYSTEM } from "../accounts/audit-trail.ts";
import type { Database } from "../db/database.ts";
import type { Mails } from "../mail/mails.ts";
import type { ReversalEvent } from "./stripe.ts";

interface ReversalParts {
  readonly database: Database;
  readonly mails: Mails;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Tells every operator of a dispute or refund at Stripe, which changes no wallet: by a mail, and in the audit trail of
 * the platform. Once per event of a dispute, and per refunded amount of a charge, however often Stripe repeats it.
 */
export async function noticeReversal(
  { database, mails, now }: ReversalParts,
  event: ReversalEvent,
): Promise<void> {
  const { people, auditEntries } = database.tables;
  const { action, objectId, payment, amount, currency, state } = event;
  const target = `${objectId}:${state ?? amount ?? ""}`;
  const after = { payment, amount, currency, state };
  await database.transact(async (tx) => {
    const operators = await tx.select().from(people).where(eq(people.isOperator, true));
    // First the mails: of two repetitions at once, the second waits here for the first.
    for (const { id, email } of operators) {
      const data = { text: describe(event) };
      const mailId = `${action}:${target}:${id}`;
      await mails.enqueue(tx, { template: "payment_reversed", address: email, data }, { id: mailId });
    }
    const isKnown = and(eq(auditEntries.action, action), eq(auditEntries.target, target));
    const [known] = await tx.select({ id: auditEntries.id }).from(auditEntries).where(isKnown).limit(1);
    if (!known) await recordChange(database, tx, SYSTEM, { action, target, after }, now());
  });
}

const TITLES = {
  "payment.disputed": "A payment was disputed at Stripe",
  "payment.dispute_closed": "A dispute was closed at Stripe",
  "payment.refunded": "A payment was refunded at Stripe",
} as const satisfies Readonly<Record<ReversalEvent["action"], string>>;

function describe({ action, objectId, payment, amount, currency, state }: ReversalEvent): string {
  const sum = amount === undefined ? "" : `, ${amount} ${currency ?? ""} in its smallest unit`;
  const status = state === undefined ? "" : `, ${state}`;
  return `${TITLES[action]}: ${objectId}${payment === undefined ? "" : ` of ${payment}`}${sum}${status}`;
}
