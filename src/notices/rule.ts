import type { Tables } from "../db/database.ts";
import { type Nanos, printUsd } from "../domain/money.ts";

/** The addresses that one rule may mail. */
export const RULE_EMAILS_MAX = 10;

/**
 * What a rule watches, and its threshold: nanos of the account's available balance, days from 1 to 100 before the end of
 * a credit, or whole percent from 1 to 100 of a spending limit or of the attempts at upstreams. `subject_limit` watches limits that count each end user or
 * member by itself, and those of runs and child keys. Rules of upstreams belong to platform operators.
 */
export type Threshold =
  | { readonly kind: "balance_below"; readonly balance: Nanos }
  | { readonly kind: "credit_ends"; readonly days: bigint }
  | { readonly kind: "key_limit"; readonly percent: bigint }
  | { readonly kind: "subject_limit"; readonly percent: bigint }
  | { readonly kind: "upstream_errors"; readonly percent: bigint };

export type RuleKind = Threshold["kind"];

/** A threshold, and who is notified when it is crossed. */
export type NoticeRule = Threshold & {
  readonly id: string;
  readonly accountId: string;
  readonly emails: readonly string[];
  readonly webhookUrl: string | undefined;
  readonly version: number;
  readonly createdAtMs: number;
  /** Since when the rule is not evaluated; `undefined` while it is. */
  readonly pausedAtMs: number | undefined;
};

export type BalanceRule = Extract<NoticeRule, { readonly kind: "balance_below" }>;
export type CreditRule = Extract<NoticeRule, { readonly kind: "credit_ends" }>;
export type PercentRule = Exclude<NoticeRule, BalanceRule | CreditRule>;

/** Prints the threshold as the API has it. */
export function printThreshold(rule: Threshold): string {
  return rule.kind === "balance_below" ? printUsd(rule.balance) : `${amountOf(rule)}`;
}

function amountOf(rule: Threshold): bigint {
  if (rule.kind === "balance_below") return rule.balance;
  return rule.kind === "credit_ends" ? rule.days : rule.percent;
}

/** The threshold of a kind with an amount in its unit. */
export function thresholdOf(kind: RuleKind, amount: bigint): Threshold {
  if (kind === "balance_below") return { kind, balance: amount };
  return kind === "credit_ends" ? { kind, days: amount } : { kind, percent: amount };
}

type Row = Tables["noticeRules"]["$inferSelect"];

/** Reads a row of the table. */
export function readRule({ kind, threshold, ...row }: Row): NoticeRule {
  const { emails, webhookUrl, pausedAtMs } = row;
  return {
    ...row,
    ...thresholdOf(kind, threshold),
    emails: JSON.parse(emails),
    webhookUrl: webhookUrl ?? undefined,
    pausedAtMs: pausedAtMs ?? undefined,
  };
}

/** The row of a rule. */
export function writeRule(rule: NoticeRule): Row {
  const { id, accountId, kind, emails, webhookUrl, version, createdAtMs, pausedAtMs } = rule;
  return {
    id,
    accountId,
    kind,
    threshold: amountOf(rule),
    emails: JSON.stringify(emails),
    webhookUrl: webhookUrl ?? null,
    version,
    createdAtMs,
    pausedAtMs: pausedAtMs ?? null,
  };
}
