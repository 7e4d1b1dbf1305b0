import { Elysia, t } from "elysia";
import { createOnce } from "../../../accounts/idempotency.ts";
import type { Plan } from "../../../domain/plan.ts";
import { addressOfWallet, type FullStripe } from "../../../payments/stripe.ts";
import { offersOf, openPortal, orderPlan, requireOffer } from "../../../plans/billing/orders.ts";
import type { ConsoleSettings, PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { listOf } from "../shapes.ts";
import { planId, planShape, shapePlan } from "../subscriptions/shapes.ts";
import { newCheckoutShape } from "../wallet/shapes.ts";

type Parts = PartsOf<"settings" | "log">;

type PlanPage = typeof newCheckoutShape.static;

/** The plans that owners may buy while Stripe is set up. */
export function offersUnder({ stripe, plans }: ConsoleSettings): readonly Plan[] {
  return stripe ? offersOf(plans) : [];
}

/** Plans that owners buy through Stripe. */
export function planOrderRoutes(parts: Parts, requireStripe: () => FullStripe) {
  const { settings } = parts;
  return new Elysia({ prefix: "/accounts/:account" })
    .use(createGuard(parts, "Plans"))
    .get("/plans", () => ({ items: offersUnder(settings).map(shapeOffer) }), {
      summary: "List the plans that owners may buy",
      needs: "wallet.read",
      response: listOf(planShape),
    })
    .post(
      "/subscription/checkouts",
      ({ account, actor, request, body }) =>
        createOnce<PlanPage>(parts, { request, body }, actor, async (keep) => {
          const stripe = requireStripe();
          const wallet = addressOfWallet(settings.publicUrl, account.id);
          const page = await orderPlan({ ...parts, stripe }, actor, {
            accountId: account.id,
            plan: requireOffer(settings.plans, body.plan),
            successUrl: `${wallet}?plan=ordered`,
            cancelUrl: wallet,
            hasTax: settings.payments.hasTax,
            record: (tx, { sessionId: id, url }) => keep(tx, { id, url }),
          });
          return { id: page.sessionId, url: page.url };
        }),
      {
        summary: "Open a page of Stripe on which the account subscribes to a plan",
        isIdempotent: true,
        needs: "wallet.write",
        body: t.Object({ plan: planId }),
        response: newCheckoutShape,
      },
    )
    .post(
      "/subscription/portal",
      async ({ account }) => {
        const returnUrl = addressOfWallet(settings.publicUrl, account.id);
        const place = { accountId: account.id, returnUrl };
        return { url: await openPortal({ ...parts, stripe: requireStripe() }, place) };
      },
      {
        summary: "Open Stripe's customer portal, where a subscription is cancelled and its card changed",
        needs: "wallet.write",
        response: t.Object({ url: t.String() }),
      },
    );
}

/** What owners see of a plan: neither its markup nor the id of its price. */
function shapeOffer(plan: Parameters<typeof shapePlan>[0]) {
  return { ...shapePlan(plan), markup: null, stripe_price: null };
}
