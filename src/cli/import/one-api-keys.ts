import { digestOf, isSecret } from "../../accounts/keys/key.ts";
import { NANOS_MAX } from "../../domain/money.ts";
import {
  isDeleted,
  isTrue,
  type KeyReader,
  listOf,
  numberOf,
  type ReadKey,
  type Row,
  textOf,
} from "./table.ts";

/** One unit of quota: 500,000 are one USD. */
const NANOS_PER_QUOTA = 2_000n;
const ENABLED = 1;
/** The last second that a date can name. */
const TIME_S_MAX = 8.64e12;
/** What a spending limit may be at the most. */
const QUOTA_MAX = Number(NANOS_MAX / NANOS_PER_QUOTA);
/** The group that one-api gives to everybody. Others choose channels and prices. */
const DEFAULT_GROUP = "default";

/** Columns that are read, and those that bound nothing. `allow_ips` and `subnet` have no counterpart. */
const COLUMNS = new Set([
  ...["id", "user_id", "key", "name", "status", "expired_time", "deleted_at", "is_deleted"],
  ...["remain_quota", "unlimited_quota", "models", "model_limits_enabled", "model_limits"],
  ...["user_status", "user_deleted_at", "group", "created_time", "accessed_time", "used_quota"],
  // How channels are tried again, and which of an owner's sums pays first.
  ...["cross_group_retry", "billing_type"],
]);

/** Reads the table `tokens` of one-api and of gateways that descend from it. */
export const ONE_API_KEYS: KeyReader = { read: readRow, columns: COLUMNS, findLost };

/** The group of a user decides where that of the key is empty. */
function findLost(row: Row): readonly string[] {
  const group = textOf(row.group);
  return group !== undefined && group !== DEFAULT_GROUP ? ["group"] : [];
}

function readRow(row: Row, nowMs: number): Omit<ReadKey, "lost"> {
  const secret = `sk-${(textOf(row.key) ?? "").replace(/^sk-/, "")}`;
  const name = textOf(row.name) ?? `key ${String(row.id ?? "")}`;
  const owner = numberOf(row.user_id)?.toString();
  const problem = findProblem(row, secret, nowMs);
  if (problem !== undefined) return { name, owner, key: { problem } };
  const expiresS = expiryOf(row);
  const amount = BigInt(Math.max(quotaOf(row), 0)) * NANOS_PER_QUOTA;
  const models = modelsOf(row);
  const key = {
    digest: digestOf(secret),
    hint: secret.slice(0, 10),
    expiresAtMs: expiresS === -1 ? undefined : expiresS * 1_000,
    models,
    spendingLimit: isTrue(row.unlimited_quota) ? undefined : { amount, period: "total" as const },
  };
  return { name, owner, key };
}

function findProblem(row: Row, secret: string, nowMs: number): string | undefined {
  const isOff = (status: unknown) => numberOf(status) !== undefined && numberOf(status) !== ENABLED;
  const expiresS = expiryOf(row);
  if (isDeleted(row)) return "was deleted";
  if (!isSecret(secret)) return "its key is shorter than 20 or longer than 128 characters";
  if (isOff(row.status)) return "is not enabled";
  if (isOff(row.user_status) || textOf(row.user_deleted_at) !== undefined) return "its user is not enabled";
  if (expiresS !== -1 && !(expiresS * 1_000 > nowMs)) return "has expired";
  if (!(Number.isSafeInteger(expiresS) && expiresS <= TIME_S_MAX)) return "has an expiry that is no time";
  if (!(Number.isSafeInteger(quotaOf(row)) && quotaOf(row) <= QUOTA_MAX))
    return "has a quota that is no amount";
  // An enabled list without a model allows none there; no list here would allow all.
  return modelsOf(row)?.length === 0 ? "may use no model" : undefined;
}

function expiryOf(row: Row): number {
  return numberOf(row.expired_time) ?? -1;
}

function quotaOf(row: Row): number {
  return isTrue(row.unlimited_quota) ? 0 : (numberOf(row.remain_quota) ?? 0);
}

/** one-api keeps a list where there is one, new-api beside a switch. `undefined` for every model. */
function modelsOf(row: Row): readonly string[] | undefined {
  const models = listOf(row.models ?? row.model_limits);
  if (row.model_limits_enabled === undefined) return models.length > 0 ? models : undefined;
  return isTrue(row.model_limits_enabled) ? listOf(row.model_limits ?? row.models) : undefined;
}
