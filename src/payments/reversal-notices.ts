import { and, eq } from "drizzle-orm";
import { recordChange, SYSTEM } from "../accounts/audit-trail.ts";
import type { Database } from "../db/database.ts";
import type { Mails } from "../delivery/mail/mails.ts";
import type { ReversalResult } from "./reversals.ts";
import type { ReversalEvent } from "./stripe-events.ts";

interface NoticeParts {
  readonly database: Database;
  readonly mails: Mails;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Tells every operator of a dispute or refund at Stripe: by a mail, and in the audit trail of the platform. Once per
 * state of a dispute, and per refunded amount of a charge, however often Stripe repeats it.
 */
export async function noticeReversal(
  { database, mails, now }: NoticeParts,
  event: ReversalEvent,
  result: ReversalResult,
): Promise<void> {
  const { people, auditEntries } = database.tables;
  const { action, objectId, payment, amount, currency, state } = event;
  const target = `${objectId}:${state ?? amount ?? ""}`;
  const after = { payment, amount, currency, state, effect: result };
  await database.transact(async (tx) => {
    const operators = await tx.select().from(people).where(eq(people.isOperator, true));
    // First the mails: of two repetitions at once, the second waits here for the first.
    for (const { id, email } of operators) {
      const data = { text: describe(event), effect: describeEffect(event, result) };
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
  "payment.refund_failed": "A refund failed at Stripe",
} as const satisfies Readonly<Record<ReversalEvent["action"], string>>;

function describe({ action, objectId, payment, amount, currency, state }: ReversalEvent): string {
  const sum = amount === undefined ? "" : `, ${amount} ${currency ?? ""} in its smallest unit`;
  const status = state === undefined ? "" : `, ${state}`;
  return `${TITLES[action]}: ${objectId}${payment === undefined ? "" : ` of ${payment}`}${sum}${status}`;
}

/** Says what became of the wallet. */
function describeEffect({ action, state }: ReversalEvent, result: ReversalResult): string {
  const isReturned = state === "won" || action === "payment.refund_failed";
  const isInquiry = state?.startsWith("warning") ?? false;
  if (isInquiry) return "No money was moved: the wallet is unchanged.";
  switch (result) {
    case "debit":
      return isReturned ? "The wallet has the money back." : "The money was taken off the wallet.";
    case "freeze":
      return isReturned ? "The account stays suspended: resume it." : "The account is suspended.";
    case "record":
      return "The wallet is unchanged: correct its balance.";
    case "unknown":
      return "It is no USD payment of a wallet here: no wallet was changed.";
  }
}
