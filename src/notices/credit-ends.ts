import { DAY_MS, printTime } from "../domain/id-time.ts";
import { printUsd } from "../domain/money.ts";
import type { Credit } from "../ledger/records.ts";
import type { Crossing } from "./episodes.ts";
import { type CreditRule, printThreshold } from "./rule.ts";

/** The credits that one rule reports at a time, those that end first. */
const CREDITS_MAX = 20;

/**
 * Returns the credits that end within the days of a rule. A credit is a subject: its episode ends when it is spent or
 * has ended. `credits` are those with something left, in the order of spending.
 */
export function findEndingCredits(
  rule: CreditRule,
  credits: readonly Credit[],
  nowMs: number,
): readonly Crossing[] {
  const untilMs = nowMs + Number(rule.days) * DAY_MS;
  return credits
    .filter(({ claims, expiresAtMs = Infinity }) => claims === undefined && expiresAtMs <= untilMs)
    .slice(0, CREDITS_MAX)
    .map((credit) => ({ subject: `credit ${credit.seq}`, data: describeEnd(rule, credit, nowMs) }));
}

function describeEnd(
  rule: CreditRule,
  { source, left, expiresAtMs = 0 }: Credit,
  nowMs: number,
): Crossing["data"] {
  const value = printUsd(left);
  const days = Math.floor((expiresAtMs - nowMs) / DAY_MS);
  const when = days < 1 ? "within a day" : `in ${days} ${days === 1 ? "day" : "days"}`;
  const at = printTime(expiresAtMs).slice(0, 16).replace("T", " ");
  const text = `${value} USD of the wallet (${source}) expire ${when}, at ${at} UTC, unless they are spent before.`;
  return { kind: rule.kind, text, threshold: printThreshold(rule), value };
}
