// What the audit trail and the log say of subscriptions that Stripe bills.
import { and, eq } from "drizzle-orm";
import { type AuditActor, recordChange, SYSTEM } from "../../accounts/audit-trail.ts";
import type { Database, Db } from "../../db/database.ts";
import { printUsd } from "../../domain/money.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Subscription } from "../subscription.ts";
import { describeSubscription } from "../subscriptions.ts";
import type { PlanOrderRow } from "./order-rows.ts";
import type { Settlement } from "./settle.ts";

/** Who caused a change, for the audit trail. Default: Stripe. */
export interface Cause {
  readonly actor: AuditActor;
  readonly reason?: string | undefined;
}

/** What the audit trail calls a change; `undefined` for one of periods alone. */
function actionOf(before: Subscription | undefined, after: Subscription): string | undefined {
  if (!before) return "subscription.created";
  if (before.state !== after.state) {
    return after.state === "active" ? "subscription.resumed" : `subscription.${after.state}`;
  }
  if (before.isCancelling !== after.isCancelling) {
    return after.isCancelling ? "subscription.cancelled" : "subscription.resumed";
  }
  const isSamePlan = before.plan === after.plan && before.nextPlan?.id === after.nextPlan?.id;
  return isSamePlan ? undefined : "subscription.changed";
}

interface Recorded {
  readonly before: Subscription | undefined;
  readonly after: Subscription;
  readonly cause: Cause;
  readonly nowMs: number;
}

/** Records what became of a subscription; nothing where only a period began. */
export async function recordSettled(
  database: Database,
  tx: Db,
  { before, after, cause: { actor, reason }, nowMs }: Recorded,
): Promise<void> {
  const action = actionOf(before, after);
  if (!action) return;
  const { accountId, id: target, stripeId } = after;
  const change = {
    accountId,
    action,
    target,
    ...(before && { before: describeSubscription(before) }),
    after: { ...describeSubscription(after), stripe: stripeId, reason },
  };
  await recordChange(database, tx, actor, change, nowMs);
}

/** A paid invoice that grants nothing is for an operator: once in the audit trail, and in the log until it is mended. */
export async function reportRefused(
  { database, log, now }: { readonly database: Database; readonly log: Log; readonly now: () => number },
  tx: Db,
  { accountId }: PlanOrderRow,
  { refused }: Settlement,
): Promise<void> {
  const { auditEntries } = database.tables;
  const action = "subscription.invoice_refused";
  for (const { id: target, priceId: price, currency, paid } of refused) {
    log.error({ account: accountId, invoice: target, price, currency }, "paid invoice of no plan");
    const isKnown = and(eq(auditEntries.action, action), eq(auditEntries.target, target));
    const [known] = await tx.select({ id: auditEntries.id }).from(auditEntries).where(isKnown).limit(1);
    const after = { price, currency, amount_usd: printUsd(paid) };
    if (!known) await recordChange(database, tx, SYSTEM, { accountId, action, target, after }, now());
  }
}
