import type { Tables } from "../db/database.ts";
import { printUsd } from "../domain/money.ts";

/**
 * What a rule watches: the available balance of the account, the spending limits of its keys, or the attempts
 * at upstreams. Rules of upstreams belong to platform operators.
 */
export type RuleKind = "balance_below" | "key_limit" | "upstream_errors";

/** The addresses that one rule may mail. */
export const RULE_EMAILS_MAX = 10;

/** A threshold, and who is notified when it is crossed. */
export interface NoticeRule {
  readonly id: string;
  readonly accountId: string;
  readonly kind: RuleKind;
  /** Nanos for `balance_below`, percent from 1 to 100 for the other kinds. */
  readonly threshold: bigint;
  readonly emails: readonly string[];
  readonly webhookUrl: string | undefined;
  readonly version: number;
  readonly createdAtMs: number;
  /** Since when the rule is not evaluated; `undefined` while it is. */
  readonly pausedAtMs: number | undefined;
}

/** Prints the threshold as the API has it. */
export function printThreshold({ kind, threshold }: Pick<NoticeRule, "kind" | "threshold">): string {
  return kind === "balance_below" ? printUsd(threshold) : String(threshold);
}

/** Reads a row of the table. */
export function readRule(row: Tables["noticeRules"]["$inferSelect"]): NoticeRule {
  const { emails, webhookUrl, pausedAtMs } = row;
  return {
    ...row,
    emails: JSON.parse(emails),
    webhookUrl: webhookUrl ?? undefined,
    pausedAtMs: pausedAtMs ?? undefined,
  };
}

/** The row of a rule. */
export function writeRule(rule: NoticeRule): Tables["noticeRules"]["$inferInsert"] {
  const { emails, webhookUrl, pausedAtMs } = rule;
  return {
    ...rule,
    emails: JSON.stringify(emails),
    webhookUrl: webhookUrl ?? null,
    pausedAtMs: pausedAtMs ?? null,
  };
}
