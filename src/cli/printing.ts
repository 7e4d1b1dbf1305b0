import type { Account } from "../accounts/accounts.ts";
import type { ApiKey } from "../accounts/keys/key.ts";
import { printTime } from "../domain/id-time.ts";
import { printMarkup, printUsd } from "../domain/money.ts";
import type { Balances, SpendLimitUsage } from "../ledger/records.ts";

/** Formats a table with aligned columns. Returns the titles alone without rows. */
export function printTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [titles, ...rows];
  const widths = titles.map((_, column) => Math.max(...all.map((row) => Bun.stringWidth(row[column] ?? ""))));
  const lines = all.map((row) => row.map((cell, column) => padTo(cell, widths[column] ?? 0)).join("  "));
  return lines.map((line) => line.trimEnd()).join("\n");
}

/** Pads a text with blanks to a width in terminal columns. An emoji or a Chinese character takes two. */
function padTo(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(width - Bun.stringWidth(cell), 0));
}

export function printBalances({ posted, held, available }: Balances) {
  return {
    posted_usd: printUsd(posted),
    held_usd: printUsd(held),
    available_usd: printUsd(available),
  };
}

export function printAccount({ id, name, email, state, createdAtMs, markup }: Account) {
  return {
    id,
    name,
    email: email ?? null,
    state,
    created_at: printTime(createdAtMs),
    markup: markup === undefined ? null : printMarkup(markup),
  };
}

/** Converts a key to JSON, without its digest. A limit that the key does not set is null. */
export function printKey(key: ApiKey, spendLimit: SpendLimitUsage | undefined) {
  return {
    id: key.id,
    account_id: key.accountId,
    name: key.name,
    hint: key.hint,
    requests_per_minute: key.limits.requestsPerMinute ?? null,
    tokens_per_minute: key.limits.tokensPerMinute ?? null,
    concurrent_requests: key.limits.concurrentRequests ?? null,
    models: key.models ?? null,
    tiers: key.tiers ?? null,
    allows_paid_tools: !key.forbidsPaidTools,
    allows_clamp: key.allowsClamp,
    allows_children: key.allowsChildren,
    project_id: key.projectId ?? key.accountId,
    parent_id: key.parentIds[0] ?? null,
    spending_limit: spendLimit ? printSpendLimit(spendLimit) : null,
    created_at: printTime(key.createdAtMs),
    expires_at: printTime(key.expiresAtMs),
    revoked_at: printTime(key.revokedAtMs),
    version: key.version,
    previous: key.previous ? { hint: key.previous.hint, ends_at: printTime(key.previous.endsAtMs) } : null,
  };
}

/** Converts a spending limit with its counters to JSON. */
export function printSpendLimit({ amount, period, used, held, resetsAtMs }: SpendLimitUsage) {
  return {
    amount_usd: printUsd(amount),
    reset: period,
    used_usd: printUsd(used),
    held_usd: printUsd(held),
    resets_at: printTime(resetsAtMs),
  };
}
