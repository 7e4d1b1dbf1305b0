import { digestOf, isSecret } from "../../accounts/key.ts";
import { type ForeignKey, importKey } from "../../accounts/keys.ts";
import { type Nanos, parseUsd } from "../../domain/money.ts";
import type { LimitPeriod } from "../../ledger/records.ts";
import type { CommandResult } from "../command.ts";
import { requireAccount, type Storage } from "../storage.ts";
import { isTrue, listOf, numberOf, type Row, readTable, textOf } from "./table.ts";

/** Gateways whose keys can be imported. */
export type KeyFormat = "litellm" | "one-api";

/** A key that was read from an export, or why it cannot be imported. */
type ReadKey = Omit<ForeignKey, "accountId"> | { readonly name: string; readonly problem: string };

export interface KeyImportOptions {
  readonly account: string;
  /** Reports what would be imported, and changes nothing. */
  readonly dryRun?: boolean;
}

/** Imports the keys of an exported table. A key that is there already is left as it is. */
export async function importKeys(
  storage: Storage,
  { format, path }: { readonly format: KeyFormat; readonly path: string },
  { account: accountName, dryRun = false }: KeyImportOptions,
): Promise<CommandResult> {
  const account = await requireAccount(storage.database, accountName);
  const keys = readTable(path).map((row) => READERS[format](row, Date.now()));
  const imported: string[] = [];
  let known = 0;
  for (const key of keys) {
    if ("problem" in key) continue;
    const isNew = dryRun || (await importKey(storage, { ...key, accountId: account.id })) !== undefined;
    if (isNew) imported.push(key.name);
    else known += 1;
  }
  const problems = keys.flatMap((key) => ("problem" in key ? [`${key.name}: ${key.problem}`] : []));
  const verb = dryRun ? "Would import" : "Imported";
  const lines = [
    `${verb} ${imported.length} keys into account ${account.name}, ${known} were there before.`,
    ...imported.map((name) => `  ${name}`),
    ...(problems.length > 0 ? ["Not imported:", ...problems.map((problem) => `  ${problem}`)] : []),
  ];
  const json = { account_id: account.id, imported, known, problems, dry_run: dryRun };
  return { json, text: lines.join("\n"), failed: problems.length > 0 };
}

const READERS: Readonly<Record<KeyFormat, (row: Row, nowMs: number) => ReadKey>> = {
  litellm: readLitellmKey,
  "one-api": readOneApiKey,
};

const PERIODS: Readonly<Record<string, LimitPeriod>> = {
  "1d": "day",
  "24h": "day",
  daily: "day",
  "7d": "week",
  weekly: "week",
  "30d": "month",
  "1mo": "month",
  monthly: "month",
};
/** What LiteLLM writes in place of a list of all models. */
const ALL_MODELS = ["all-proxy-models", "all-team-models", "*"];

/** Reads a row of the table of virtual keys. @see https://docs.litellm.ai/docs/proxy/virtual_keys */
function readLitellmKey(row: Row, nowMs: number): ReadKey {
  const digest = textOf(row.token)?.toLowerCase() ?? "";
  const shown = textOf(row.key_name);
  const name = nameOf(textOf(row.key_alias) ?? shown ?? `key ${digest.slice(0, 8)}`);
  const fail = (problem: string) => ({ name, problem });
  if (!/^[\da-f]{64}$/.test(digest)) return fail("its token is no SHA-256 digest");
  if (isTrue(row.blocked)) return fail("is blocked");
  const expiresAtMs = readTime(row.expires);
  if (expiresAtMs !== undefined && !(expiresAtMs > nowMs))
    return fail("has expired, or its expiry is no time");
  const limits = {
    requestsPerMinute: numberOf(row.rpm_limit),
    tokensPerMinute: numberOf(row.tpm_limit),
    concurrentRequests: numberOf(row.max_parallel_requests),
  };
  if (!Object.values(limits).every(isLimit)) return fail("has a limit that is no whole number");
  const spendingLimit = readBudget(row);
  if (typeof spendingLimit === "string") return fail(spendingLimit);
  const models = listOf(row.models);
  const isForAll = models.length === 0 || models.some((model) => ALL_MODELS.includes(model));
  const hint = shown && /^[\x21-\x7e]{1,16}$/.test(shown) ? shown : "sk-…";
  return {
    name,
    digest,
    hint,
    limits,
    expiresAtMs,
    models: isForAll ? undefined : models,
    spendingLimit,
  };
}

/** A budget without a period keeps what is left of it: spending is counted from 0 here. */
function readBudget(row: Row): ForeignKey["spendingLimit"] | string {
  const budget = numberOf(row.max_budget);
  if (budget === undefined) return undefined;
  const duration = textOf(row.budget_duration);
  const period = duration === undefined ? "total" : PERIODS[duration];
  if (!period) return `has the budget period ${duration}, which is no day, week or month`;
  const left = period === "total" ? Math.max(budget - (numberOf(row.spend) ?? 0), 0) : budget;
  if (!(left >= 0 && left < 1e9)) return "has a budget that is no amount";
  return { amount: amountOf(left), period };
}

/** Rounds down to nano-USD: the budget is a floating-point number. */
function amountOf(usd: number): Nanos {
  return parseUsd(usd.toFixed(9));
}

/** One unit of quota: 500,000 are one USD. */
const NANOS_PER_QUOTA = 2_000n;
const ENABLED = 1;

/** Reads a row of the table `tokens` of one-api and of gateways that descend from it. */
function readOneApiKey(row: Row, nowMs: number): ReadKey {
  const secret = `sk-${(textOf(row.key) ?? "").replace(/^sk-/, "")}`;
  const name = nameOf(textOf(row.name) ?? `key ${String(row.id ?? "")}`);
  const fail = (problem: string) => ({ name, problem });
  if (!isSecret(secret)) return fail("its key is shorter than 20 or longer than 128 characters");
  if (numberOf(row.status) !== undefined && numberOf(row.status) !== ENABLED) return fail("is not enabled");
  const expiresS = numberOf(row.expired_time) ?? -1;
  if (expiresS !== -1 && !(expiresS * 1_000 > nowMs)) return fail("has expired");
  const quota = numberOf(row.remain_quota) ?? 0;
  if (!isTrue(row.unlimited_quota) && !Number.isSafeInteger(quota))
    return fail("has a quota that is no number");
  const hasList = row.model_limits_enabled === undefined || isTrue(row.model_limits_enabled);
  const models = hasList ? listOf(row.models ?? row.model_limits) : [];
  const amount = BigInt(Math.max(isTrue(row.unlimited_quota) ? 0 : quota, 0)) * NANOS_PER_QUOTA;
  return {
    name,
    digest: digestOf(secret),
    hint: secret.slice(0, 10),
    expiresAtMs: expiresS === -1 ? undefined : expiresS * 1_000,
    models: models.length > 0 ? models : undefined,
    spendingLimit: isTrue(row.unlimited_quota) ? undefined : { amount, period: "total" },
  };
}

function isLimit(value: number | undefined): boolean {
  return value === undefined || (Number.isSafeInteger(value) && value >= 0);
}

/** Names of keys have one line of at most 100 characters. */
function nameOf(text: string): string {
  return (
    text
      .replace(/[^\x20-\x7e\p{L}\p{N}]/gu, " ")
      .trim()
      .slice(0, 100) || "imported"
  );
}

/** Times without a zone are in UTC, as PostgreSQL exports them. NaN for what is no time. */
function readTime(value: unknown): number | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const [, time = "", zone] = /^(.*T.*?)(Z|[+-]\d{2}(?::?\d{2})?)?$/.exec(text.replace(" ", "T")) ?? [];
  return Date.parse(time + (zone === undefined ? "Z" : zone.replace(/^([+-]\d{2})$/, "$1:00")));
}
