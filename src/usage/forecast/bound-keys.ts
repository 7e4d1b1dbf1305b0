import type { Account } from "../../accounts/accounts.ts";
import { findAuthorNames } from "../../accounts/find-items.ts";
import { type ApiKey, stateOfKey } from "../../accounts/keys/key.ts";
import type { SpendingLimit } from "../../accounts/spending-limits.ts";
import type { Database } from "../../db/database.ts";
import { chunksOf } from "../../domain/chunks.ts";
import { isCalendar, periodEnd } from "../../domain/period.ts";
import { limiterOf } from "../../gateway/admit.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { SpendLimitUsage } from "../../ledger/records.ts";
import type { LimitUsage } from "../../limiter/limiter.ts";
import { type KeyActivity, NO_ACTIVITY, readActivity } from "../key-activity.ts";
import { quoteSmallRequests } from "./estimate.ts";
import { type BindingLimit, limitsThatBind, readSharedLimits } from "./limits.ts";
import { type PredictedDecline, predictDecline } from "./next-decline.ts";

/** As much of a spending limit as a view shows. */
export type SpendLimitState = Omit<SpendLimitUsage, "walletId" | "limitId" | "keyId">;

/** What is known of a key beside its row. */
export interface KeyFacts {
  readonly spendingLimit: SpendLimitState | undefined;
  /** The spending limits that bind the key: its own and those of its account. */
  readonly spendLimits: readonly SpendLimitUsage[];
  /** `undefined` for a key out of force, and while the limiter is away. */
  readonly usage: LimitUsage | undefined;
  readonly activity: KeyActivity;
  /** The names of people and management keys, by id. */
  readonly authors: ReadonlyMap<string, string>;
}

/** A key with its limits, the tightest first, and what its next request would be refused for. */
export interface BoundKey {
  readonly key: ApiKey;
  readonly facts: KeyFacts;
  readonly limits: readonly [BindingLimit, ...BindingLimit[]];
  readonly decline: PredictedDecline | undefined;
}

interface Parts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "balances" | "spendLimits" | "usage" | "receipts">;
  gateway(): Pick<Gateway, "catalog" | "limiter" | "keyLimits" | "accountLimits">;
  readonly now: () => number;
}

/** Finds what binds keys of one account. What the keys share is read once. */
export async function bindKeys(
  parts: Parts,
  account: Account,
  keys: readonly ApiKey[],
  offsetHours?: number,
): Promise<readonly BoundKey[]> {
  const gateway = parts.gateway();
  const [factsOf, shared] = await Promise.all([
    readFacts(parts, account.id, keys, offsetHours),
    readSharedLimits(parts.ledger, gateway, account.id),
  ]);
  const find = quoteSmallRequests(gateway);
  return keys.map((key) => {
    const facts = factsOf(key);
    const nowMs = parts.now();
    const limits = limitsThatBind(gateway, key, { own: facts, shared, nowMs });
    const money = { wallet: shared.balances, limits: facts.spendLimits };
    const decline = predictDecline(find, { account, key, limits, money, nowMs });
    // The limit that refuses the next request binds first, however little of it is used.
    const [tightest, ...others] = decline?.limit
      ? [decline.limit, ...limits.filter((each) => each !== decline.limit)]
      : limits;
    if (!tightest) throw new Error("A key is bound by its wallet at least");
    return { key, facts, limits: [tightest, ...others], decline };
  });
}

/** Reads the facts of keys of one account. */
export async function readFacts(
  parts: Parts,
  accountId: string,
  keys: readonly ApiKey[],
  offsetHours = 0,
): Promise<(key: ApiKey) => KeyFacts> {
  const creatorIds = keys.flatMap(({ createdBy }) => createdBy ?? []);
  const [spendLimits, activities, authors, usages] = await Promise.all([
    parts.ledger.spendLimits(accountId),
    readActivity(parts, accountId, keys, offsetHours),
    findAuthorNames(parts.database, creatorIds),
    Promise.all(keys.map(async (key) => [key.id, await readUsage(parts, key)] as const)),
  ]);
  const templates = await readMemberTemplates(parts.ledger, accountId, { limits: spendLimits, keys });
  const ownLimits = new Map(spendLimits.map((limit) => [limit.limitId, limit]));
  const usageOf = new Map(usages);
  return (key) => {
    const { id } = key;
    const limit = ownLimits.get(id);
    return {
      spendingLimit: limit?.keyId === id ? limit : undefined,
      spendLimits: [...spendLimits, ...templates].filter((each) => bindsKey(each, key)),
      usage: usageOf.get(id),
      activity: activities.get(id) ?? NO_ACTIVITY,
      authors,
    };
  };
}

/** A key that no hold has: its limits are those of the scopes that are asked for. */
const NO_KEY = "-";
/** Scopes of one read of limits. */
const SCOPES_OF_READ = 16;

interface TemplateReads {
  readonly limits: readonly SpendLimitUsage[];
  readonly keys: readonly ApiKey[];
}

/** Reads what the limit of each member has counted for the authors of keys. Most accounts have no such limit. */
async function readMemberTemplates(
  ledger: Pick<Ledger, "spendLimits">,
  accountId: string,
  { limits, keys }: TemplateReads,
): Promise<readonly SpendLimitUsage[]> {
  if (!limits.some(({ each }) => each === "member")) return [];
  const authors = [...new Set(keys.flatMap(({ createdBy }) => createdBy ?? []))];
  const counted: SpendLimitUsage[] = [];
  for (const some of chunksOf(authors, SCOPES_OF_READ)) {
    const scopes = some.map((id) => ({ kind: "member", id }) as const);
    const bound = await ledger.spendLimits(accountId, NO_KEY, scopes);
    counted.push(...bound.filter(({ each, subject }) => each === "member" && subject !== undefined));
  }
  return counted;
}

/**
 * Whether a spending limit binds every request of a key: its own, those of the keys above it, of its project, its
 * author and the wallet. A template among the limits of a wallet has no counter: those of authors are read apart.
 */
function bindsKey({ keyId, scope, each, subject }: SpendLimitUsage, key: ApiKey): boolean {
  if (each !== undefined) return each === "member" && subject !== undefined && subject === key.createdBy;
  if (keyId !== undefined) return keyId === key.id || key.parentIds.includes(keyId);
  if (!scope) return true;
  if (scope.kind === "project") return scope.id === (key.projectId ?? key.accountId);
  return scope.kind === "member" && scope.id === key.createdBy;
}

/** Reads the windows and slots of a key alone, without those of its account. */
async function readUsage({ gateway, now }: Parts, key: ApiKey): Promise<LimitUsage | undefined> {
  if (stateOfKey(key, now()) !== "active") return undefined;
  const { limiter, keyLimits } = gateway();
  const { accountId } = key;
  return limiter.usage({ accountId, ...limiterOf(key, keyLimits), accountLimits: {} }).catch(() => undefined);
}

/** The facts of a key that is about to be created: nothing is used. */
export async function newKeyFacts(
  { database, now }: Pick<Parts, "database" | "now">,
  creatorId: string,
  spendingLimit: SpendingLimit | undefined,
): Promise<KeyFacts> {
  const limit = spendingLimit && unspentLimit(spendingLimit, now());
  const authors = await findAuthorNames(database, [creatorId]);
  return { spendingLimit: limit, spendLimits: [], usage: undefined, activity: NO_ACTIVITY, authors };
}

/** A limit that nothing has spent from. A window begins with its first hold. */
export function unspentLimit(limit: SpendingLimit, nowMs: number): SpendLimitState {
  const { period, timeZone } = limit;
  const resetsAtMs = isCalendar(period) ? periodEnd(period, nowMs, timeZone) : undefined;
  return { ...limit, used: 0n, held: 0n, resetsAtMs };
}
