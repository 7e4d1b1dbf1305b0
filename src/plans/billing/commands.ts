// What operators do with a subscription that Stripe bills: there first, and then here by what Stripe says.
import { EditConflict } from "../../accounts/accounts.ts";
import type { AuditActor } from "../../accounts/audit-trail.ts";
import { GatewayError } from "../../errors.ts";
import { describeFault } from "../../telemetry/log.ts";
import { decide } from "../decide.ts";
import { command } from "../plans.ts";
import { findSubscription } from "../reads.ts";
import type { Subscription } from "../subscription.ts";
import type { SubscriptionChange } from "../subscriptions.ts";
import { type BillingParts, syncBilled } from "./sync.ts";

/**
 * Pauses, resumes or cancels a subscription that Stripe bills. An end at once is stored first, and carried out at Stripe
 * until it is; all else is asked of Stripe first. Rejects like `changeSubscription`, and with `payments_unavailable`.
 */
export async function commandBilled(
  parts: BillingParts,
  actor: AuditActor,
  change: SubscriptionChange,
): Promise<Subscription> {
  const { subscriptionId, command: wanted, version, reason } = change;
  const before = await findSubscription(parts.database, subscriptionId);
  if (!before?.stripeId) throw new GatewayError("unknown_item");
  if (version !== undefined && version !== before.version) throw new EditConflict(before);
  const { stripeId } = before;
  const { after } = decide(before, wanted, parts.now());
  if (after.state === "ended") {
    await command(parts, actor, change);
    await syncBilled(parts, stripeId).catch((fault: unknown) => {
      parts.log.warn(
        { stripe: stripeId, ...describeFault(fault) },
        "subscription not yet cancelled at Stripe",
      );
    });
  } else {
    if (after.isCancelling !== before.isCancelling)
      await parts.stripe.setEnding(stripeId, after.isCancelling);
    if (wanted.kind !== "cancel") await parts.stripe.setHeld(stripeId, wanted.kind === "pause");
    await syncBilled(parts, stripeId, { actor, reason });
  }
  const changed = await findSubscription(parts.database, subscriptionId);
  if (!changed) throw new GatewayError("unknown_item");
  return changed;
}
