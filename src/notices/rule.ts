import type { Tables } from "../db/database.ts";
import { type Nanos, printUsd } from "../domain/money.ts";

/** The addresses that one rule may mail. */
export const RULE_EMAILS_MAX = 10;

/**
 * What a rule watches, and its threshold: nanos of the account's available balance, or whole percent from 1 to
 * 100 of a spending limit or of the attempts at upstreams. `subject_limit` watches limits that count each end user or
 * member by itself, and those of runs and child keys. Rules of upstreams belong to platform operators.
 */
export type Threshold =
  | { readonly kind: "balance_below"; readonly balance: Nanos }
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
export type PercentRule = Exclude<NoticeRule, BalanceRule>;

/** Prints the threshold as the API has it. */
export function printThreshold(rule: Threshold): string {
  return rule.kind === "balance_below" ? printUsd(rule.balance) : String(rule.percent);
}

type Row = Tables["noticeRules"]["$inferSelect"];

/** Reads a row of the table. */
export function readRule({ kind, threshold, ...row }: Row): NoticeRule {
  const { emails, webhookUrl, pausedAtMs } = row;
  return {
    ...row,
    ...(kind === "balance_below" ? { kind, balance: threshold } : { kind, percent: threshold }),
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
    threshold: rule.kind === "balance_below" ? rule.balance : rule.percent,
    emails: JSON.stringify(emails),
    webhookUrl: webhookUrl ?? null,
    version,
    createdAtMs,
    pausedAtMs: pausedAtMs ?? null,
  };
}
