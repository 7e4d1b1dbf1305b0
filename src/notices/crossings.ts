import { printUsd } from "../domain/money.ts";
import { isCalendar, type LimitPeriod } from "../domain/period.ts";
import type { ScopeKind } from "../domain/scope.ts";
import { describeEndUser, quoteName, showName } from "../domain/shown-name.ts";
import type { Balances, SpendLimitUsage } from "../ledger/records.ts";
import type { Crossing } from "./episodes.ts";
import { type BalanceRule, type PercentRule, printThreshold } from "./rule.ts";

/** Attempts at an upstream, those that failed included. */
export interface AttemptCounts {
  readonly attempts: number;
  readonly failed: number;
}

/** A name of a key by its id; `undefined` for a key that is gone or revoked. */
export type KeyNames = ReadonlyMap<string, { readonly name: string; readonly hint: string }>;

/** The names of what limits bind; those of scopes by their ids. */
export interface OwnerNames {
  readonly keys: KeyNames;
  readonly scopes: ReadonlyMap<string, string>;
}

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
  owners: OwnerNames,
): readonly Crossing[] {
  const fullest = new Map<string, SpendLimitUsage>();
  for (const limit of limits) {
    // These have rules of their own: they may be a million.
    if (limit.each !== undefined || limit.scope?.kind === "run") continue;
    if (limit.keyId !== undefined && !owners.keys.has(limit.keyId)) continue;
    const subject = limit.keyId ?? (limit.scope ? limit.limitId : rule.accountId);
    const other = fullest.get(subject);
    if (!other || percentOf(limit) > percentOf(other)) fullest.set(subject, limit);
  }
  return [...fullest]
    .filter(([, limit]) => isFull(rule, limit))
    .map(([subject, limit]) => ({ subject, data: describeLimit(rule, limit, owners) }));
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

/** What the subject of a limit is called at the beginning of a sentence. */
export const SCOPE_NOUNS: Readonly<Record<ScopeKind, string>> = {
  key: "Key",
  parent_key: "Key",
  project: "Project",
  member: "Member",
  end_user: "End user",
  tag: "Tag",
  run: "Run",
};

function describeOwner({ keyId, scope }: SpendLimitUsage, { keys, scopes }: OwnerNames): string {
  const key = keyId === undefined ? undefined : keys.get(keyId);
  if (key) return `Key ${quoteName(key.name) ?? key.hint}`;
  if (!scope) return "The account";
  if (scope.kind === "end_user") return describeEndUser(scope.id);
  return `${SCOPE_NOUNS[scope.kind]} ${showName(scopes.get(scope.id) ?? scope.id)}`;
}

function describeLimit(rule: PercentRule, limit: SpendLimitUsage, owners: OwnerNames): Crossing["data"] {
  return describeUse(rule, limit, describeOwner(limit, owners));
}

/** The content of a notice about an owner that has used the percentage of a limit. */
export function describeUse(rule: PercentRule, limit: SpendLimitUsage, owner: string): Crossing["data"] {
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
