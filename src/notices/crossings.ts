import { printUsd } from "../domain/money.ts";
import { isCalendar, type LimitPeriod } from "../domain/period.ts";
import type { ScopeKind } from "../domain/scope.ts";
import type { Balances, SpendLimitUsage } from "../ledger/records.ts";
import { quoteName } from "../mail/mails.ts";
import type { Crossing } from "./episodes.ts";
import { type BalanceRule, type PercentRule, printThreshold } from "./rule.ts";

/** Attempts at an upstream, those that failed included. */
export interface AttemptCounts {
  readonly attempts: number;
  readonly failed: number;
}

/** A name of a key by its id; `undefined` for a key that is gone or revoked. */
export type KeyNames = ReadonlyMap<string, { readonly name: string; readonly hint: string }>;

/** Fewer attempts in five minutes prove nothing. */
const ATTEMPTS_MIN = 10;
const PERCENT = 100n;

/** Returns whether the available balance, holds included, is below the threshold. */
export function findLowBalance(rule: BalanceRule, { available }: Balances): readonly Crossing[] {
  if (available >= rule.balance) return [];
  const [value, threshold] = [printUsd(available), printThreshold(rule)];
  const text = `The available balance is ${value} USD, below ${threshold} USD.`;
  return [{ subject: rule.accountId, data: { kind: rule.kind, text, threshold, value } }];
}

/**
 * Returns what has spent the percentage of a limit, holds included: one crossing per key, for its fullest limit.
 * Limits of the whole wallet have the account as their subject, those of other scopes themselves.
 */
export function findFullLimits(
  rule: PercentRule,
  limits: readonly SpendLimitUsage[],
  keys: KeyNames,
): readonly Crossing[] {
  const fullest = new Map<string, SpendLimitUsage>();
  for (const limit of limits) {
    // A run meets its limit as it should. The counters of a template are as many as what it counts.
    if (limit.each !== undefined || limit.scope?.kind === "run") continue;
    if (limit.keyId !== undefined && !keys.has(limit.keyId)) continue;
    const subject = limit.keyId ?? (limit.scope ? limit.limitId : rule.accountId);
    const other = fullest.get(subject);
    if (!other || percentOf(limit) > percentOf(other)) fullest.set(subject, limit);
  }
  return [...fullest]
    .filter(([, limit]) => isFull(rule, limit))
    .map(([subject, limit]) => ({ subject, data: describeLimit(rule, limit, keys) }));
}

/** Whether the spending of a limit, holds included, has reached the percentage of a rule. */
export function isFull({ percent }: PercentRule, limit: SpendLimitUsage): boolean {
  return percentOf(limit) >= percent;
}

/** Whole percent, rounded down. A limit of nothing is full. */
function percentOf({ used, held, amount }: SpendLimitUsage): bigint {
  return amount <= 0n ? PERCENT : ((used + held) * PERCENT) / amount;
}

const PERIODS = { total: "total", day: "daily", week: "weekly", month: "monthly" } as const;

function describePeriod(period: LimitPeriod): string {
  return isCalendar(period) ? PERIODS[period] : `${period.slice(0, -1)}-hour`;
}

const OWNERS: Readonly<Record<ScopeKind, string>> = {
  key: "Key",
  parent_key: "Key",
  project: "Project",
  member: "Member",
  end_user: "End user",
  tag: "Tag",
  run: "Run",
};

function describeOwner({ keyId, scope }: SpendLimitUsage, keys: KeyNames): string {
  const key = keyId === undefined ? undefined : keys.get(keyId);
  if (key) return `Key ${quoteName(key.name) ?? key.hint}`;
  return scope ? `${OWNERS[scope.kind]} ${quoteName(scope.id) ?? scope.id}` : "The account";
}

function describeLimit(rule: PercentRule, limit: SpendLimitUsage, keys: KeyNames): Crossing["data"] {
  const owner = describeOwner(limit, keys);
  const percent = String(percentOf(limit));
  const whole = `its ${describePeriod(limit.period)} spending limit of ${printUsd(limit.amount)} USD`;
  const text = `${owner} has used ${percent} % of ${whole}, holds included.`;
  return { kind: rule.kind, text, threshold: printThreshold(rule), value: percent };
}

/** Returns the upstreams at which at least the percentage of the last five minutes' attempts has failed. */
export function findFailingUpstreams(
  rule: PercentRule,
  upstreams: ReadonlyMap<string, AttemptCounts>,
): readonly Crossing[] {
  const threshold = printThreshold(rule);
  return [...upstreams]
    .map(([subject, counts]) => ({
      subject,
      ...counts,
      percent: Math.floor((counts.failed * 100) / counts.attempts),
    }))
    .filter(({ attempts, percent }) => attempts >= ATTEMPTS_MIN && percent >= Number(rule.percent))
    .map(({ subject, attempts, failed, percent }) => {
      const text = `${failed} of ${attempts} attempts at upstream ${subject} failed within five minutes (${percent} %).`;
      return { subject, data: { kind: rule.kind, text, threshold, value: String(percent) } };
    });
}
