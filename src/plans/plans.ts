// The commands of subscriptions: each changes the database first, then the ledger. The pass repeats what is missing.
import type { AuditActor } from "../accounts/audit-trail.ts";
import type { Database } from "../db/database.ts";
import type { Plan } from "../domain/plan.ts";
import { GatewayError } from "../errors.ts";
import { LedgerError } from "../ledger/ledger.ts";
import { alignLimits, bookGrants, type PlanParts } from "./booking.ts";
import { decide } from "./decide.ts";
import { type Preview, previewOf } from "./preview.ts";
import { findLive, findSubscription } from "./reads.ts";
import type { Subscription } from "./subscription.ts";
import {
  addSubscription,
  changeSubscription,
  draftSubscription,
  type NewSubscription,
  type SubscriptionChange,
} from "./subscriptions.ts";

/** Subscribes an account to a plan from now on. Rejects like {@link addSubscription}. */
export async function subscribe(
  parts: PlanParts,
  actor: AuditActor,
  wanted: NewSubscription,
): Promise<Subscription> {
  const added = await addSubscription(parts, actor, wanted);
  await alignLedger(parts, added.id);
  return added;
}

/** Pauses, resumes, changes or cancels a subscription. Rejects like {@link changeSubscription}. */
export async function command(
  parts: PlanParts,
  actor: AuditActor,
  change: SubscriptionChange,
): Promise<Subscription> {
  const changed = await changeSubscription(parts, actor, change);
  await alignLedger(parts, changed.id);
  return changed;
}

/** The change stands in the database: what the ledger does not take now, the next pass repeats. */
export async function alignLedger(parts: PlanParts, subscriptionId: string): Promise<void> {
  for (const step of [bookGrants, alignLimits]) {
    await step(parts, subscriptionId).catch((fault: unknown) => {
      const isPassing =
        fault instanceof LedgerError || (fault instanceof GatewayError && fault.kind === "conflict");
      if (!isPassing) throw fault;
    });
  }
}

type PreviewParts = Pick<PlanParts, "now"> & { readonly database: Database };

/** Returns what a new subscription would do. Rejects like {@link subscribe}; nothing is changed. */
export async function previewSubscribe(
  { database, now }: PreviewParts,
  wanted: NewSubscription,
): Promise<Preview> {
  if (await findLive(database, wanted.accountId)) {
    throw new GatewayError("conflict", { message: "The account has a subscription already." });
  }
  return previewOf(undefined, draftSubscription(wanted, { id: "", createdBy: "", nowMs: now() }));
}

/** Returns what a command would do. Rejects like {@link command}; nothing is changed. */
export async function previewCommand(
  { database, now }: PreviewParts,
  { subscriptionId, command: wanted }: Pick<SubscriptionChange, "subscriptionId" | "command">,
): Promise<Preview> {
  const before = await findSubscription(database, subscriptionId);
  if (!before) throw new GatewayError("unknown_item");
  return previewOf(before, decide(before, wanted, now()));
}

/** Finds a plan of the configuration. Throws `unknown_item`. */
export function requirePlan(plans: readonly Plan[] | undefined, id: string): Plan {
  const plan = plans?.find((each) => each.id === id);
  if (!plan) throw new GatewayError("unknown_item", { message: `There is no plan "${id}".` });
  return plan;
}
