import { type Nanos, printUsd } from "../domain/money.ts";
import type { Plan } from "../domain/plan.ts";
import { printTime } from "../time.ts";
import type { Decision } from "./decide.ts";
import { type Grant, nextAtMsOf, periodEndOf, type Subscription } from "./subscription.ts";

/** What a decision does, for the person who confirms it. */
export interface Preview {
  readonly before: Subscription | undefined;
  readonly after: Subscription;
  /** Credits that are granted at once. */
  readonly grants: readonly Grant[];
  /** When the next period begins; `undefined` where none follows. */
  readonly nextPeriodAtMs: number | undefined;
  /** The credit of the next period. */
  readonly nextGrant: Nanos | undefined;
  /** When the subscription ends, or has ended; `undefined` where it goes on. */
  readonly endsAtMs: number | undefined;
  /** One sentence for each thing that happens, or that might be expected and does not. */
  readonly sentences: readonly string[];
}

/** Describes a decision without carrying it out. `before` is `undefined` for a new subscription. */
export function previewOf(before: Subscription | undefined, { after, grants }: Decision): Preview {
  const next = after.isCancelling ? undefined : nextAtMsOf(after);
  const facts = {
    before,
    after,
    grants,
    nextPeriodAtMs: next,
    nextGrant: next === undefined ? undefined : (after.nextPlan ?? after.plan).grant,
    endsAtMs: after.isCancelling ? periodEndOf(after) : after.endedAtMs,
  };
  return { ...facts, sentences: explain(facts) };
}

function explain(facts: Omit<Preview, "sentences">): readonly string[] {
  const { before, after, grants } = facts;
  return [
    ...grants.map(explainGrant),
    ...(before ? ["Credit that was granted before is kept until its own end."] : []),
    ...explainBinding(before, after),
    explainNext(facts),
  ];
}

function explainGrant({ amount, isRaise, expiresAtMs }: Grant): string {
  const what = isRaise ? "for the rest of the running period" : "for a period";
  return `${printUsd(amount)} USD are granted now ${what}, to be spent until ${printTime(expiresAtMs)}.`;
}

function explainBinding(before: Subscription | undefined, after: Subscription): readonly string[] {
  if (after.state === "ended") return ["Models, spending limits and markup of the plan end now."];
  const parts = partsOf(after.plan);
  if (before?.plan === after.plan) return [];
  if (parts.length === 0)
    return ["The plan brings no models, spending limits or markup: none bind the account."];
  return [`From now on, the plan's ${parts.join(", ")} bind the account.`];
}

function partsOf({ models, limits, markup }: Plan): readonly string[] {
  return [
    ...(models ? [`models (${models.join(", ")})`] : []),
    ...limits.map(({ amount, period }) => `spending limit of ${printUsd(amount)} USD (${period})`),
    ...(markup === undefined ? [] : ["markup"]),
  ];
}

function explainNext({ after, nextPeriodAtMs, nextGrant, endsAtMs }: Omit<Preview, "sentences">): string {
  if (after.state === "ended") return "No further period begins.";
  if (endsAtMs !== undefined) {
    return `The subscription ends at ${printTime(endsAtMs)}, with the plan's models, spending limits and markup.`;
  }
  if (nextPeriodAtMs === undefined || nextGrant === undefined) {
    return "No period begins until the subscription is resumed; what binds the account stays.";
  }
  const { name } = after.nextPlan ?? after.plan;
  return `The next period begins at ${printTime(nextPeriodAtMs)} with ${printUsd(nextGrant)} USD of plan ${name}.`;
}
