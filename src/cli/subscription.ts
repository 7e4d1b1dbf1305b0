import { COMMAND_LINE } from "../accounts/audit-trail.ts";
import { loadPlans } from "../config/config.ts";
import { printTime } from "../domain/id-time.ts";
import { printUsd } from "../domain/money.ts";
import type { Plan } from "../domain/plan.ts";
import { GatewayError } from "../errors.ts";
import type { PlanCommand, When } from "../plans/decide.ts";
import { printPlan } from "../plans/plan-text.ts";
import { command, previewCommand, previewSubscribe, requirePlan, subscribe } from "../plans/plans.ts";
import type { Preview } from "../plans/preview.ts";
import { printGrant, printPreview, printSubscription } from "../plans/print.ts";
import { findLive, listGrants, listSubscriptions } from "../plans/reads.ts";
import { nextAtMsOf, type Subscription } from "../plans/subscription.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { printTable } from "./printing.ts";
import { requireAccount, type Storage } from "./storage.ts";

/** Credits that are shown. */
const SHOWN_MAX = 20;
const PAGE_SIZE = 1_000;

/** Lists the plans of the configuration file. */
export function runPlanList(plans: readonly Plan[] = loadPlans()): CommandResult {
  const rows = plans.map(({ id, name, period, grant, price }) => [
    id,
    name,
    period,
    printUsd(grant),
    price === undefined ? "" : printUsd(price),
  ]);
  return {
    json: { plans: plans.map(printPlan) },
    text: printTable(["ID", "NAME", "PERIOD", "GRANT USD", "PRICE USD"], rows),
  };
}

/** Lists the subscriptions that have not ended, or all. */
export async function runSubscriptionList(
  { database }: Storage,
  { all = false }: { readonly all?: boolean },
): Promise<CommandResult> {
  const found: Subscription[] = [];
  for (let token: string | null | undefined; token !== null; ) {
    const page = await listSubscriptions(database, { isLive: !all, size: PAGE_SIZE, token });
    found.push(...page.items);
    token = page.next;
  }
  const rows = found.map((each) => [
    each.id,
    each.accountId,
    each.plan.id,
    describeState(each),
    printTime(nextAtMsOf(each) ?? null) ?? "",
  ]);
  return {
    json: { subscriptions: found.map(printSubscription) },
    text: printTable(["ID", "ACCOUNT ID", "PLAN", "STATE", "NEXT"], rows),
  };
}

interface OfAccount {
  /** Id or name. */
  readonly account: string;
}

/** Shows the subscription of an account, with its newest credits. */
export async function runSubscriptionShow(
  { database }: Storage,
  { account: named }: OfAccount,
): Promise<CommandResult> {
  const account = await requireAccount(database, named);
  const [latest] = (await listSubscriptions(database, { accountId: account.id, size: 1 })).items;
  const subscription = (await findLive(database, account.id)) ?? latest;
  if (!subscription) throw new CommandError(`Account ${account.name} has no subscription.`);
  const grants = (await listGrants(database, subscription.id, SHOWN_MAX)).map(printGrant);
  const rows = grants.map((each) => [
    String(each.period),
    each.kind,
    each.plan,
    each.amount_usd,
    each.starts_at,
    each.expires_at,
    each.booked_at ?? "not yet",
  ]);
  return {
    json: { ...printSubscription(subscription), grants },
    text: [
      `Account ${account.name}: plan ${subscription.plan.name}, ${describeState(subscription)}`,
      printTable(["PERIOD", "KIND", "PLAN", "USD", "STARTS", "EXPIRES", "BOOKED"], rows),
    ].join("\n\n"),
  };
}

function describeState(subscription: Subscription): string {
  const { state, isCancelling, nextPlan } = subscription;
  if (isCancelling) return `${state}, ends ${printTime(nextAtMsOf(subscription) ?? null)}`;
  return nextPlan ? `${state}, then plan ${nextPlan.id}` : state;
}

interface Confirmed extends OfAccount {
  readonly reason?: string;
  readonly yes?: boolean;
}

export interface SubscriptionCreateOptions extends Confirmed {
  readonly plan: string;
  readonly timeZone?: string;
}

/** Subscribes an account to a plan; without `yes` it shows what that would do. */
export async function runSubscriptionCreate(
  storage: Storage,
  { account: named, plan: planId, timeZone, reason, yes = false }: SubscriptionCreateOptions,
  plans: readonly Plan[] = loadPlans(),
): Promise<CommandResult> {
  const account = await requireAccount(storage.database, named);
  const parts = { ...storage, now: Date.now };
  return explained(async () => {
    const wanted = { accountId: account.id, plan: requirePlan(plans, planId), timeZone, reason };
    if (!yes) return showPreview(await previewSubscribe(parts, wanted));
    const added = await subscribe(parts, COMMAND_LINE, wanted);
    return showChanged(added, `Subscribed account ${account.name} to plan ${added.plan.name}.`);
  });
}

export async function runSubscriptionPause(storage: Storage, options: Confirmed): Promise<CommandResult> {
  return run(storage, options, { kind: "pause" }, "Paused");
}

export async function runSubscriptionResume(storage: Storage, options: Confirmed): Promise<CommandResult> {
  return run(storage, options, { kind: "resume" }, "Resumed");
}

export interface SubscriptionChangeOptions extends Confirmed {
  readonly plan: string;
  readonly when?: When;
}

export async function runSubscriptionChange(
  storage: Storage,
  { plan: planId, when, ...options }: SubscriptionChangeOptions,
  plans: readonly Plan[] = loadPlans(),
): Promise<CommandResult> {
  return explained(() => {
    const plan = requirePlan(plans, planId);
    return run(storage, options, { kind: "change", plan, when }, "Changed");
  });
}

export interface SubscriptionCancelOptions extends Confirmed {
  readonly when?: When;
}

export async function runSubscriptionCancel(
  storage: Storage,
  { when = "period_end", ...options }: SubscriptionCancelOptions,
): Promise<CommandResult> {
  return run(storage, options, { kind: "cancel", when }, "Cancelled");
}

async function run(
  storage: Storage,
  { account: named, reason, yes = false }: Confirmed,
  wanted: PlanCommand,
  done: string,
): Promise<CommandResult> {
  const account = await requireAccount(storage.database, named);
  const live = await findLive(storage.database, account.id);
  if (!live) throw new CommandError(`Account ${account.name} has no subscription that has not ended.`);
  const parts = { ...storage, now: Date.now };
  const change = { subscriptionId: live.id, command: wanted, reason };
  return explained(async () => {
    if (!yes) return showPreview(await previewCommand(parts, change));
    const changed = await command(parts, COMMAND_LINE, change);
    return showChanged(changed, `${done} the subscription of account ${account.name}.`);
  });
}

/** Exit code 1, so that a script that forgot to confirm does not go on. */
function showPreview(preview: Preview): CommandResult {
  const lines = preview.sentences.map((sentence) => `  ${sentence}`);
  return {
    json: { changed: false, preview: printPreview(preview) },
    text: ["Nothing was changed. With --yes:", ...lines].join("\n"),
    failed: true,
  };
}

function showChanged(subscription: Subscription, text: string): CommandResult {
  return { json: { changed: true, ...printSubscription(subscription) }, text };
}

async function explained<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (fault) {
    if (!(fault instanceof GatewayError)) throw fault;
    if (fault.kind === "wrong_shape") throw new CommandError("There is no such time zone.", 2);
    if (fault.kind !== "conflict" && fault.kind !== "unknown_item") throw fault;
    throw new CommandError(fault.publicMessage);
  }
}
