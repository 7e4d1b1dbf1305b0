import type { ForeignKey } from "../../accounts/keys/keys.ts";
import { type Nanos, parseUsd } from "../../domain/money.ts";
import type { LimitPeriod } from "../../domain/period.ts";
import {
  isDeleted,
  isFilled,
  isTrue,
  type KeyReader,
  listOf,
  numberOf,
  objectOf,
  type ReadKey,
  type Row,
  textOf,
} from "./table.ts";

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

/** Columns that are read, and those that bound nothing: times, sums, names and their own housekeeping. */
const COLUMNS = new Set([
  ...["token", "key_name", "key_alias", "models", "expires", "blocked", "deleted_at", "is_deleted"],
  ...["rpm_limit", "tpm_limit", "max_parallel_requests", "max_budget", "budget_duration", "spend"],
  ...["user_id", "team_id", "organization_id", "project_id", "team_alias", "user_email"],
  ...["team_models", "user_models", "team_blocked", "metadata", "allowed_routes", "key_type"],
  ...["total_spend", "model_spend", "budget_reset_at", "soft_budget_cooldown"],
  ...["created_at", "created_by", "updated_at", "updated_by", "settings_updated_at", "last_active"],
  ...["rotation_count", "rotation_interval", "last_rotation_at", "key_rotation_at"],
]);
/** What LiteLLM writes in place of a list of all models. */
const ALL_MODELS = ["all-proxy-models", "*"];
const TEAM_MODELS = "all-team-models";
const NO_MODELS = "no-default-models";
/** Keys that the proxy's own administrator made belong to this user, whose models are not limited. */
const ADMINISTRATOR = "default_user_id";

/** Reads the table of virtual keys. @see https://docs.litellm.ai/docs/proxy/virtual_keys */
export const LITELLM_KEYS: KeyReader = { read: readRow, columns: COLUMNS, findLost };

function readRow(row: Row, nowMs: number): Omit<ReadKey, "lost"> {
  const digest = textOf(row.token)?.toLowerCase() ?? "";
  const shown = textOf(row.key_name);
  const name = textOf(row.key_alias) ?? shown ?? `key ${digest.slice(0, 8)}`;
  const owner = textOf(row.team_id) ?? textOf(row.user_id) ?? textOf(row.organization_id);
  const problem = findProblem(row, digest, nowMs);
  if (problem !== undefined) return { name, owner, key: { problem } };
  const spendingLimit = readBudget(row);
  if (typeof spendingLimit === "string") return { name, owner, key: { problem: spendingLimit } };
  const models = readModels(row);
  if (typeof models === "string") return { name, owner, key: { problem: models } };
  const hint = shown && /^[\x21-\x7e]{1,16}$/.test(shown) ? shown : "sk-…";
  const expiresAtMs = readTime(row.expires);
  return { name, owner, key: { digest, hint, limits: limitsOf(row), expiresAtMs, ...models, spendingLimit } };
}

function findProblem(row: Row, digest: string, nowMs: number): string | undefined {
  if (!/^[\da-f]{64}$/.test(digest)) return "its token is no SHA-256 digest";
  if (isTrue(row.blocked)) return "is blocked";
  if (isTrue(row.team_blocked)) return "its team is blocked";
  if (isDeleted(row)) return "was deleted";
  const expiresAtMs = readTime(row.expires);
  if (expiresAtMs !== undefined && !(expiresAtMs > nowMs)) return "has expired, or its expiry is no time";
  if (!Object.values(limitsOf(row)).every(isLimit)) return "has a limit that is no whole number";
  const type = textOf(row.key_type);
  if (type !== undefined && type !== "default" && type !== "llm_api") return `is of the type ${type}`;
  return undefined;
}

function limitsOf(row: Row) {
  return {
    requestsPerMinute: numberOf(row.rpm_limit),
    tokensPerMinute: numberOf(row.tpm_limit),
    concurrentRequests: numberOf(row.max_parallel_requests),
  };
}

function isLimit(value: number | undefined): boolean {
  return value === undefined || (Number.isSafeInteger(value) && value >= 0);
}

/** A list of the owner bounds that of the key. It is lost where the table has no column of it. */
function findLost(row: Row): readonly string[] {
  const list = scopeOf(row);
  const isOpen = namesOf(row.models) === undefined;
  const routes = listOf(row.allowed_routes).filter((route) => route !== "llm_api_routes");
  const metadata = objectOf(row.metadata);
  const members = Object.keys(metadata ?? {}).filter((name) => isFilled(metadata?.[name]));
  return [
    ...(list !== undefined && isOpen && row[list] === undefined ? [list] : []),
    ...(routes.length > 0 ? ["allowed_routes"] : []),
    ...(metadata === undefined && isFilled(row.metadata) ? ["metadata"] : []),
    ...members.map((name) => `metadata.${name}`),
  ];
}

/** The column of the owner's models: a key of a team has those of the team, also beside a user. */
function scopeOf(row: Row): "team_models" | "user_models" | undefined {
  const user = textOf(row.user_id);
  if (textOf(row.team_id) !== undefined || listOf(row.models).includes(TEAM_MODELS)) return "team_models";
  return user === undefined || user === ADMINISTRATOR ? undefined : "user_models";
}

/** Returns the names of a list; `undefined` for one that leaves the choice to the owner, or allows every model. */
function namesOf(value: unknown): readonly string[] | undefined {
  const names = listOf(value);
  const isOpen =
    names.length === 0 || names.some((name) => name === TEAM_MODELS || ALL_MODELS.includes(name));
  return isOpen ? undefined : names;
}

/** Returns the models that both the key and its owner allow, or as text why there are none. */
function readModels(row: Row): Pick<ForeignKey, "models"> | string {
  const list = scopeOf(row);
  const own = namesOf(row.models);
  const theirs = list === undefined ? undefined : namesOf(row[list]);
  const models = own && theirs ? own.filter((name) => theirs.includes(name)) : (own ?? theirs);
  if (models?.some((name) => name.includes("*"))) return "has a pattern among its models: name each model";
  const named = models?.filter((name) => name !== NO_MODELS);
  return named?.length === 0 ? "may use no model" : { models: named };
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

/** Times without a zone are in UTC, as PostgreSQL exports them. NaN for what is no time. */
function readTime(value: unknown): number | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const [, time = "", zone] = /^(.*T.*?)(Z|[+-]\d{2}(?::?\d{2})?)?$/.exec(text.replace(" ", "T")) ?? [];
  return Date.parse(time + (zone === undefined ? "Z" : zone.replace(/^([+-]\d{2})$/, "$1:00")));
}
