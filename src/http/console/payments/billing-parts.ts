import type { FullStripe } from "../../../payments/stripe.ts";
import type { BillingParts } from "../../../plans/billing/sync.ts";
import type { ConsoleParts } from "../console-parts.ts";

type Parts = Pick<ConsoleParts, "database" | "ledger" | "settings" | "now" | "log">;

/** What subscriptions that Stripe bills need, of the parts of the console. */
export function billingParts(parts: Parts, stripe: FullStripe): BillingParts {
  return { ...parts, stripe, plans: () => parts.settings.plans ?? [] };
}
