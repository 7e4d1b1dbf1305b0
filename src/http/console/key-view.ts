import { inArray } from "drizzle-orm";
import type { ApiKey } from "../../accounts/keys/key.ts";
import type { SpendingLimit } from "../../accounts/keys/keys.ts";
import type { LimitWindow } from "../../domain/limit-windows.ts";
import { printUsd } from "../../domain/money.ts";
import { periodEnd } from "../../domain/period.ts";
import { limitsOf } from "../../gateway/admit.ts";
import type { SpendLimitUsage } from "../../ledger/records.ts";
import type { LimitUsage } from "../../limiter/limiter.ts";
import { printTime } from "../../time.ts";
import { type KeyActivity, NO_ACTIVITY, readActivity } from "../../usage/key-activity.ts";
import type { ConsoleParts } from "./console-parts.ts";
import type { key as keyShape, namedKey } from "./key-shapes.ts";

export type KeyView = typeof keyShape.static;

type NamedKey = typeof namedKey.static;

type Creators = ReadonlyMap<string, string>;

/** As much of a spending limit as a view shows. */
type LimitFacts = Omit<SpendLimitUsage, "walletId" | "limitId" | "keyId">;

/** Everything that the view of a key shows beside its row. */
export interface KeyFacts {
  readonly spendingLimit: LimitFacts | undefined;
  /** The spending limits that bind the key: its own and those of its account. */
  readonly spendLimits: readonly SpendLimitUsage[];
  /** `undefined` for a key out of force, and while the limiter is away. */
  readonly usage: LimitUsage | undefined;
  readonly activity: KeyActivity;
  readonly creators: Creators;
}

/** Reads what the console shows of one key. */
export async function viewKey(parts: ConsoleParts, key: ApiKey): Promise<KeyView> {
  const factsOf = await readFacts(parts, key.accountId, [key]);
  return viewOf(parts, key, factsOf(key));
}

/** Reads what a choice of keys shows: one read of all spending limits, and nothing for each key. */
export async function nameKeys(
  { ledger, now }: ConsoleParts,
  accountId: string,
  keys: readonly ApiKey[],
): Promise<NamedKey[]> {
  const limits = new Map((await ledger.spendLimits(accountId)).map((limit) => [limit.limitId, limit]));
  return keys.map((key) => {
    const limit = limits.get(key.id);
    return {
      id: key.id,
      name: key.name,
      state: stateOfKey(key, now()),
      created_by: key.createdBy === undefined ? null : { id: key.createdBy },
      spending_limit: limit?.keyId === key.id ? printSpendingLimit(limit) : null,
    };
  });
}

/** Reads the facts of keys of one account. */
export async function readFacts(
  parts: ConsoleParts,
  accountId: string,
  keys: readonly ApiKey[],
  offsetHours = 0,
): Promise<(key: ApiKey) => KeyFacts> {
  const [spendLimits, activities, creators, usages] = await Promise.all([
    parts.ledger.spendLimits(accountId),
    readActivity(parts, accountId, keys, offsetHours),
    findCreators(
      parts,
      keys.flatMap(({ createdBy }) => createdBy ?? []),
    ),
    Promise.all(keys.map(async (key) => [key.id, await readUsage(parts, key)] as const)),
  ]);
  const ownLimits = new Map(spendLimits.map((limit) => [limit.limitId, limit]));
  const usageOf = new Map(usages);
  return ({ id }) => {
    const limit = ownLimits.get(id);
    return {
      spendingLimit: limit?.keyId === id ? limit : undefined,
      spendLimits: spendLimits.filter(({ keyId }) => keyId === undefined || keyId === id),
      usage: usageOf.get(id),
      activity: activities.get(id) ?? NO_ACTIVITY,
      creators,
    };
  };
}

/** The facts of a key that is about to be created: nothing is used. */
export async function newKeyFacts(
  parts: ConsoleParts,
  creatorId: string,
  spendingLimit: SpendingLimit | undefined,
): Promise<KeyFacts> {
  const resetsAtMs = spendingLimit && periodEnd(spendingLimit.period, parts.now(), spendingLimit.timeZone);
  const limit = spendingLimit && { ...spendingLimit, used: 0n, held: 0n, resetsAtMs };
  const creators = await findCreators(parts, [creatorId]);
  return { spendingLimit: limit, spendLimits: [], usage: undefined, activity: NO_ACTIVITY, creators };
}

/** Whether a key may be used, as of its row. */
export function stateOfKey({ revokedAtMs, expiresAtMs }: ApiKey, nowMs: number): KeyView["state"] {
  if (revokedAtMs !== undefined) return "revoked";
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? "expired" : "active";
}

/** Reads the windows and slots of a key alone, without those of its account. */
async function readUsage(parts: ConsoleParts, key: ApiKey): Promise<LimitUsage | undefined> {
  if (stateOfKey(key, parts.now()) !== "active") return undefined;
  const { limiter, keyLimits } = parts.gateway();
  const { id: keyId, accountId } = key;
  const limits = limitsOf({ key }, keyLimits);
  return limiter.usage({ accountId, keyId, keyLimits: limits, accountLimits: {} }).catch(() => undefined);
}

/** The names of people and management keys, by id. */
async function findCreators({ database }: ConsoleParts, creatorIds: readonly string[]): Promise<Creators> {
  const ids = [...new Set(creatorIds)];
  if (ids.length === 0) return new Map();
  const { db, tables } = database;
  const { people, managementKeys } = tables;
  const [persons, programs] = await Promise.all([
    db.select({ id: people.id, name: people.name }).from(people).where(inArray(people.id, ids)),
    db
      .select({ id: managementKeys.id, name: managementKeys.name })
      .from(managementKeys)
      .where(inArray(managementKeys.id, ids)),
  ]);
  return new Map([...persons, ...programs].map(({ id, name }) => [id, name]));
}

/** Converts a key to JSON. */
export function viewOf(parts: ConsoleParts, key: ApiKey, facts: KeyFacts): KeyView {
  const { spendingLimit, usage, activity, creators } = facts;
  const limits = limitsOf({ key }, parts.gateway().keyLimits);
  const sourceOf = (own: number | undefined) => (own === undefined ? "default" : "key");
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = key.limits;
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    state: stateOfKey(key, parts.now()),
    created_at: printTime(key.createdAtMs),
    created_by: printCreator(key.createdBy, creators),
    expires_at: printTime(key.expiresAtMs),
    revoked_at: printTime(key.revokedAtMs),
    previous: printPrevious(key, parts.now()),
    models: key.models ? [...key.models] : null,
    allows_clamp: key.allowsClamp,
    version: key.version,
    spending_limit: spendingLimit ? printSpendingLimit(spendingLimit) : null,
    requests_per_minute: printRate(limits.requestsPerMinute, usage?.requests, sourceOf(requestsPerMinute)),
    tokens_per_minute: printRate(limits.tokensPerMinute, usage?.tokens, sourceOf(tokensPerMinute)),
    concurrent_requests:
      limits.concurrentRequests === undefined
        ? null
        : {
            limit: limits.concurrentRequests,
            used: usage?.running ?? 0,
            source: sourceOf(concurrentRequests),
          },
    last_used_at: printTime(activity.lastUsedAtMs),
    spent_30d_usd: printUsd(activity.spent),
  };
}

function printCreator(id: string | undefined, creators: Creators): KeyView["created_by"] {
  return id === undefined ? null : { id, name: creators.get(id) ?? "removed" };
}

/** The secret before the latest rotation, while it is still accepted. */
function printPrevious({ previous, revokedAtMs }: ApiKey, nowMs: number): KeyView["previous"] {
  if (!previous || revokedAtMs !== undefined || previous.endsAtMs <= nowMs) return null;
  return { hint: previous.hint, ends_at: printTime(previous.endsAtMs) };
}

function printRate(limit: number | undefined, window: LimitWindow | undefined, source: "key" | "default") {
  if (limit === undefined) return null;
  const remaining = window?.remaining ?? limit;
  const resetsInS = Math.ceil((window?.resetMs ?? 0) / 1000);
  return { limit, used: limit - remaining, remaining, resets_in_s: resetsInS, source };
}

export function printSpendingLimit(limit: LimitFacts): NonNullable<KeyView["spending_limit"]> {
  const { amount, period, timeZone, used, held, resetsAtMs } = limit;
  const left = amount - used - held;
  return {
    amount_usd: printUsd(amount),
    period,
    time_zone: timeZone ?? null,
    used_usd: printUsd(used),
    held_usd: printUsd(held),
    remaining_usd: printUsd(left > 0n ? left : 0n),
    resets_at: printTime(resetsAtMs),
  };
}
