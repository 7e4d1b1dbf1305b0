import { Elysia, type Static, t } from "elysia";
import type { Actor } from "../../../accounts/audit-trail.ts";
import { parseUsd, printUsd } from "../../../domain/money.ts";
import { GatewayError } from "../../../errors.ts";
import { createStripeClient } from "../../../payments/stripe.ts";
import { commandBilled } from "../../../plans/billing/commands.ts";
import type { PlanCommand } from "../../../plans/decide.ts";
import { command, previewCommand, previewSubscribe, requirePlan, subscribe } from "../../../plans/plans.ts";
import { printGrant, printPreview } from "../../../plans/print.ts";
import { findLive, findSubscription, listGrants, listSubscriptions } from "../../../plans/reads.ts";
import { periodStartOf, type Subscription } from "../../../plans/subscription.ts";
import { reason } from "../accounts/shapes.ts";
import type { PartsOf } from "../console-parts.ts";
import { readConflict } from "../errors.ts";
import { createGuard } from "../guard.ts";
import { billingParts } from "../payments/billing-parts.ts";
import { conflictWith, listOf, pageOf } from "../shapes.ts";
import {
  newSubscription,
  ownSubscription,
  path,
  planShape,
  previewShape,
  type SubscriptionShape,
  shapePlan,
  shapeSubscription,
  subscriptionShape,
  subscriptionsQuery,
  wantedCommand,
  withGrants,
  withoutMarkup,
} from "./shapes.ts";

type Parts = PartsOf<"ledger" | "settings" | "log">;

const PAGE_SIZE = 50;
/** Credits of a subscription that are shown. */
const GRANTS_MAX = 50;

/** Plans of the configuration file, and subscriptions of accounts to them. */
export function subscriptionsRoutes(parts: Parts) {
  const { database, settings } = parts;
  return new Elysia()
    .use(createGuard(parts, "Plans"))
    .get(
      "/accounts/:account/subscription",
      async ({ account }) => {
        const live = await findLive(database, account.id);
        return { subscription: live ? await withSpending(parts, live) : null };
      },
      {
        summary: "Show the account's subscription and its credits",
        needs: "wallet.read",
        response: t.Object({ subscription: t.Nullable(ownSubscription) }),
      },
    )
    .get("/operator/plans", () => ({ items: (settings.plans ?? []).map(shapePlan) }), {
      summary: "List the plans of the configuration file",
      needsOperator: true,
      response: listOf(planShape),
    })
    .get("/operator/subscriptions", ({ query }) => list(parts, query), {
      summary: "List subscriptions",
      needsOperator: true,
      query: subscriptionsQuery,
      response: pageOf(t.Composite([subscriptionShape, t.Object({ account_name: t.Nullable(t.String()) })])),
    })
    .get(
      "/operator/subscriptions/:id",
      async ({ params }) => withCredits(parts, await require(parts, params.id)),
      {
        summary: "Show a subscription and its newest credits",
        needsOperator: true,
        params: path,
        response: withGrants,
      },
    );
}

/** What operators do with subscriptions. Each change can be previewed: the preview says what it would do. */
export function subscriptionCommandsRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Plans"))
    .post(
      "/operator/accounts/:id/subscription/preview",
      async ({ params, body }) =>
        printPreview(await previewSubscribe(parts, readNew(parts, params.id, body))),
      {
        summary: "Show what a subscription of an account would grant",
        needsOperator: true,
        params: path,
        body: newSubscription,
        response: previewShape,
      },
    )
    .post(
      "/operator/accounts/:id/subscription",
      async ({ params, body, actor }) => {
        const wanted = { ...readNew(parts, params.id, body), reason: body.reason };
        return shapeSubscription(await subscribe(parts, actor, wanted));
      },
      {
        summary: "Subscribe an account to a plan",
        needsOperator: true,
        confirmed: true,
        params: path,
        body: t.Composite([newSubscription, t.Object({ reason })]),
        response: subscriptionShape,
      },
    )
    .post(
      "/operator/subscriptions/:id/preview",
      async ({ params, body }) => {
        const change = { subscriptionId: params.id, command: readCommand(parts, body) };
        return printPreview(await previewCommand(parts, change));
      },
      {
        summary: "Show what a change of a subscription would do",
        needsOperator: true,
        params: path,
        body: wantedCommand,
        response: previewShape,
      },
    )
    .post(
      "/operator/subscriptions/:id",
      async ({ params, body, actor, status }) => {
        try {
          return await change(parts, actor, params.id, body);
        } catch (fault) {
          return status(409, readConflict<Subscription, SubscriptionShape>(fault, shapeSubscription));
        }
      },
      {
        summary: "Pause, resume, change or cancel a subscription",
        needsOperator: true,
        confirmed: true,
        params: path,
        body: t.Composite([wantedCommand, t.Object({ version: t.Integer(), reason })]),
        response: {
          200: subscriptionShape,
          409: conflictWith(subscriptionShape),
        },
      },
    );
}

async function list({ database }: Parts, query: Static<typeof subscriptionsQuery>) {
  const { page: token, size = PAGE_SIZE, account: accountId, live: isLive, state, q: text, sort } = query;
  const wanted = { accountId, isLive, state, text, sort, token, size };
  const { items, next } = await listSubscriptions(database, wanted);
  const shown = items.map((each) => ({ ...shapeSubscription(each), account_name: each.accountName }));
  return { items: shown, next };
}

async function require({ database }: Parts, subscriptionId: string): Promise<Subscription> {
  const found = await findSubscription(database, subscriptionId);
  if (!found) throw new GatewayError("unknown_item");
  return found;
}

async function withCredits({ database }: Parts, subscription: Subscription) {
  const grants = await listGrants(database, subscription.id, GRANTS_MAX);
  return { ...shapeSubscription(subscription), grants: grants.map(printGrant) };
}

/** What the running period has cost, beside what it granted. */
async function withSpending(parts: Parts, subscription: Subscription) {
  const { accountId: walletId, nextPeriod } = subscription;
  const period = nextPeriod - 1;
  const fromMs = periodStartOf(subscription, period);
  const [shown, { rows }] = await Promise.all([
    withCredits(parts, subscription),
    parts.ledger.usage({ walletId, fromMs, groupBy: [], isMoneyOnly: true }),
  ]);
  const spent = rows.reduce((sum, { captured, refunded }) => sum + captured - refunded, 0n);
  const granted = shown.grants
    .filter((grant) => grant.period === period)
    .reduce((sum, grant) => sum + parseUsd(grant.amount_usd), 0n);
  return {
    ...withoutMarkup(shown),
    period_spent_usd: printUsd(spent),
    period_granted_usd: printUsd(granted),
  };
}

function readNew({ settings }: Parts, accountId: string, body: Static<typeof newSubscription>) {
  return { accountId, plan: requirePlan(settings.plans, body.plan), timeZone: body.time_zone };
}

/** Throws `wrong_shape` for a change that names no plan. */
function readCommand(
  { settings }: Parts,
  { action, plan: named, when: at }: Static<typeof wantedCommand>,
): PlanCommand {
  if (action === "pause" || action === "resume") return { kind: action };
  if (action === "cancel") return { kind: "cancel", when: at ?? "period_end" };
  if (named === undefined) throw new GatewayError("wrong_shape", { path: "plan" });
  return { kind: "change", plan: requirePlan(settings.plans, named), when: at };
}

interface ChangeBody extends Static<typeof wantedCommand> {
  readonly version: number;
  readonly reason: string;
}

async function change(parts: Parts, actor: Actor, subscriptionId: string, body: ChangeBody) {
  const { version, reason: because } = body;
  const wanted = { subscriptionId, command: readCommand(parts, body), version, reason: because };
  const { stripeId } = await require(parts, subscriptionId);
  const { stripe } = parts.settings;
  // Without Stripe, a subscription that it bills can still be ended here.
  if (stripeId === undefined || !stripe) return shapeSubscription(await command(parts, actor, wanted));
  const billed = billingParts(parts, createStripeClient(stripe));
  return shapeSubscription(await commandBilled(billed, actor, wanted));
}
