import { type Nanos, printUsd } from "../domain/money.ts";
import type { Plan } from "../domain/plan.ts";
import type { Decision } from "./decide.ts";
import { type Grant, nextPeriodAtMsOf, periodEndOf, type Subscription } from "./subscription.ts";

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
  const next = nextPeriodAtMsOf(after);
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
    ...grants.map((grant) => explainGrant(grant, after)),
    ...(before ? ["Credit that was granted before is kept until its own end."] : []),
    ...explainBinding(before, after),
    explainNext(facts),
  ];
}

function explainGrant({ amount, isRaise, expiresAtMs }: Grant, after: Subscription): string {
  const what = isRaise ? "for the rest of the running period" : "for a period";
  return `${printUsd(amount)} USD are granted now ${what}, to be spent until ${printMinute(expiresAtMs, after)}.`;
}

function explainBinding(before: Subscription | undefined, after: Subscription): readonly string[] {
  if (after.state === "ended") return ["Models, spending limits and markup of the plan end now."];
  if (before?.plan === after.plan) return [];
  const parts = partsOf(after.plan);
  if (parts.length > 0) return [`From now on, the plan's ${parts.join(", ")} bind the account.`];
  const brings = "The plan brings no models, spending limits or markup";
  return [before ? `${brings}; those of the former plan end.` : `${brings}.`];
}

/** The most models that a sentence names. */
const NAMED_MAX = 5;

function partsOf({ models, limits, markup }: Plan): readonly string[] {
  const names = models && (models.length > NAMED_MAX ? String(models.length) : models.join(", "));
  return [
    ...(names ? [`models (${names})`] : []),
    ...limits.map(({ amount, period }) => `spending limit of ${printUsd(amount)} USD (${period})`),
    ...(markup === undefined ? [] : ["markup"]),
  ];
}

function explainNext({ after, nextPeriodAtMs, nextGrant, endsAtMs }: Omit<Preview, "sentences">): string {
  if (after.state === "ended") return "No further period begins.";
  if (endsAtMs !== undefined) {
    const what = "with the plan's models, spending limits and markup";
    return `The subscription ends on ${printMinute(endsAtMs, after)}, ${what}.`;
  }
  if (nextPeriodAtMs === undefined || nextGrant === undefined) {
    return "No period begins until the subscription is resumed; what binds the account stays.";
  }
  const { name } = after.nextPlan ?? after.plan;
  const start = printMinute(nextPeriodAtMs, after);
  return `The next period begins on ${start} with ${printUsd(nextGrant)} USD of plan ${name}.`;
}

/** Prints a time to the minute in the zone of a subscription: "2026-02-28 10:00 UTC". */
function printMinute(ms: number, { timeZone }: Subscription): string {
  const local = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDateTime();
  return `${local.toString({ smallestUnit: "minute" }).replace("T", " ")} ${timeZone}`;
}
