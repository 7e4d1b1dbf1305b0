// Accounts at risk: rules over what is known of an account, each with one sentence why.
import { DAY_MS, printTime } from "../domain/id-time.ts";
import { formatCents, type Nanos } from "../domain/money.ts";
import type { WalletSummary } from "../ledger/records.ts";
import { periodEndOf, type Subscription } from "../plans/subscription.ts";

/** In the order in which they are shown: what costs money first. */
export const RISKS = [
  "below_zero",
  "payment_failed",
  "runs_out",
  "cancelling",
  "paused",
  "silent",
  "unused_credit",
] as const;
export type RiskKind = (typeof RISKS)[number];

export interface Risk {
  readonly kind: RiskKind;
  /** One sentence why. */
  readonly text: string;
}

/** What the rules know of an account. */
export interface AccountFacts {
  readonly wallet: WalletSummary;
  /** The one that has not ended. */
  readonly subscription: Subscription | undefined;
  readonly autoTopUp: { readonly state: "on" | "stopped" | "off"; readonly failures: number } | undefined;
  /** Charges less refunds of the last 7 days. */
  readonly spentWeek: Nanos;
}

/** The days whose spending is the forecast, and in which a credit may end unused. */
export const RATE_DAYS = 7;
/** Days without a request after which an account is silent. */
const SILENT_DAYS = 14;

/** Returns why an account is at risk; nothing for one that is not. */
export function risksOf(facts: AccountFacts, nowMs: number): readonly Risk[] {
  const texts: Readonly<Record<RiskKind, string | undefined>> = {
    below_zero: belowZero(facts),
    payment_failed: paymentFailed(facts),
    runs_out: runsOut(facts, nowMs),
    cancelling: cancelling(facts),
    paused: paused(facts),
    silent: silent(facts, nowMs),
    unused_credit: unusedCredit(facts),
  };
  return RISKS.flatMap((kind) => {
    const text = texts[kind];
    return text === undefined ? [] : [{ kind, text }];
  });
}

function belowZero({ wallet: { balances } }: AccountFacts): string | undefined {
  return balances.posted < 0n ? `The wallet owes ${formatCents(-balances.posted)}.` : undefined;
}

function paymentFailed({ autoTopUp }: AccountFacts): string | undefined {
  if (autoTopUp?.state === "stopped")
    return "The last automatic top-up failed: the card was declined or wants its owner.";
  if (autoTopUp?.state === "off" && autoTopUp.failures > 1)
    return "Automatic top-up was switched off after two failed payments.";
  return undefined;
}

/** By the rate of the last 7 days, nothing is left before the period ends, and no automatic top-up comes. */
function runsOut(
  { wallet, subscription, autoTopUp, spentWeek }: AccountFacts,
  nowMs: number,
): string | undefined {
  if (subscription?.state !== "active" || autoTopUp?.state === "on") return undefined;
  const endMs = periodEndOf(subscription);
  const { available } = wallet.balances;
  if (endMs <= nowMs || spentWeek <= 0n) return undefined;
  const end = printDay(endMs);
  if (available <= 0n) return `Nothing is left until the period ends on ${end}.`;
  const lastsMs = (available * BigInt(RATE_DAYS * DAY_MS)) / spentWeek;
  if (lastsMs >= BigInt(endMs - nowMs)) return undefined;
  return `At the rate of the last 7 days, ${formatCents(available)} last until ${printDay(nowMs + Number(lastsMs))}, and the period until ${end}.`;
}

function cancelling({ subscription }: AccountFacts): string | undefined {
  if (!subscription?.isCancelling) return undefined;
  return `The subscription to ${subscription.plan.name} ends on ${printDay(periodEndOf(subscription))}.`;
}

function paused({ subscription }: AccountFacts): string | undefined {
  if (subscription?.state !== "paused") return undefined;
  const since = subscription.pausedAtMs === undefined ? "" : ` since ${printDay(subscription.pausedAtMs)}`;
  return `The subscription to ${subscription.plan.name} is paused${since}.`;
}

function silent({ wallet, subscription }: AccountFacts, nowMs: number): string | undefined {
  const beginMs = Math.max(wallet.newestHoldAtMs ?? 0, subscription?.createdAtMs ?? 0, wallet.createdAtMs);
  if (nowMs - beginMs < SILENT_DAYS * DAY_MS) return undefined;
  const last = wallet.newestHoldAtMs;
  if (last === undefined) return "No request has been made yet.";
  return `The last request was ${Math.floor((nowMs - last) / DAY_MS)} days ago.`;
}

/** More than half of what ends within 7 days would be left at the rate of the last 7. */
function unusedCredit({ wallet: { ending = 0n }, spentWeek }: AccountFacts): string | undefined {
  const unused = ending - (spentWeek > 0n ? spentWeek : 0n);
  if (ending === 0n || unused * 2n <= ending) return undefined;
  return `${formatCents(ending)} of credit end within 7 days, and at the rate of the last 7, ${formatCents(unused)} of it would be unused.`;
}

function printDay(ms: number): string {
  return printTime(ms).slice(0, 10);
}
