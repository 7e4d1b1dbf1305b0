// What people do with a subscription that Stripe bills: owners at Stripe, operators in the console.
import { expect } from "bun:test";
import { drawOne } from "../support/seeded-random.ts";
import type { AccountYear } from "./account-year.ts";
import type { BilledReckoning } from "./billed-reckoning.ts";
import { mustDo, type Stage } from "./stage.ts";

/** An owner buys a plan on Stripe's page, or leaves it. */
export async function buyPlan(
  { desk, stripe, nowMs }: Stage,
  account: AccountYear,
  planId: string,
): Promise<void> {
  // One who has paid and sees no plan yet does not pay again.
  if (account.billed.some(({ id }) => id === undefined)) return;
  const { id } = await mustDo(desk, { kind: "order_plan", accountId: account.id, planId });
  if (account.draw() < 0.85) stripe.buyPlan(account, id ?? "", nowMs);
}

/** An operator pauses, resumes, cancels, or is told that a plan is changed at Stripe. */
export async function commandBilled(
  stage: Stage,
  account: AccountYear,
  billed: BilledReckoning,
): Promise<void> {
  const { desk, nowMs } = stage;
  const { draw } = account;
  const does = drawOne(draw, ["pause", "resume", "resume", "resume", "change", "cancel"] as const);
  const when = draw() < 0.3 ? "now" : "period_end";
  const wanted = { kind: does, when } as const;
  const subscriptionId = billed.id ?? "";
  const version = await stage.versionOf(subscriptionId);
  const isAccepted = billed.accepts(wanted, nowMs);
  if (isAccepted && billed.endsBy(wanted, nowMs)) billed.isOver = true;
  const planId = drawOne(draw, ["pro", "weekly"]);
  const act = { kind: "command_billed", subscriptionId, version, does, when, planId } as const;
  const answer = await desk.act({ ...act, stripeId: billed.there.id });
  const shown = [account.id, billed.there.id, does, when];
  expect([...shown, !("declined" in answer)]).toEqual([...shown, isAccepted]);
  if (isAccepted) await stage.readBilled(account, billed);
}

/** Something happens at Stripe to what the account has bought last. */
export async function actAtStripe({ stripe, nowMs }: Stage, account: AccountYear): Promise<void> {
  const billed = account.billed.at(-1);
  if (billed) stripe.actOnBilled(account, billed, nowMs);
}
