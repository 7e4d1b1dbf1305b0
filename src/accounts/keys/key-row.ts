import type { Database, Tables } from "../../db/database.ts";
import type { Limits } from "../../limiter/limiter.ts";
import { readMarkup } from "../accounts.ts";
import type { ApiKey, Caller } from "./key.ts";

export type KeyRow = Tables["apiKeys"]["$inferSelect"];

/** Converts a row to a key, without its digest. The key is frozen, because callers share it. */
export function readKey(row: KeyRow): ApiKey {
  return Object.freeze({
    id: row.id,
    accountId: row.accountId,
    name: row.name,
    hint: row.hint,
    limits: Object.freeze(readLimits(row)),
    models: row.models ? Object.freeze(row.models) : undefined,
    tiers: row.tiers ? Object.freeze(row.tiers) : undefined,
    forbidsPaidTools: row.forbidsPaidTools || undefined,
    allowsClamp: row.allowsClamp,
    allowsChildren: row.allowsChildren,
    createdAtMs: row.createdAtMs,
    expiresAtMs: row.expiresAtMs ?? undefined,
    revokedAtMs: row.revokedAtMs ?? undefined,
    createdBy: row.createdBy ?? undefined,
    projectId: row.projectId ?? undefined,
    parentIds: parentsOf(row),
    version: row.version,
    previous: readPrevious(row),
    recording: row.recording ? Object.freeze(row.recording) : undefined,
  });
}

/** Most keys have no parent and share one list. */
const NO_PARENTS: readonly string[] = Object.freeze([]);

/** Returns the ids of the keys above a key, the nearest first. */
export function parentsOf({
  parentId,
  parent2Id,
  parent3Id,
}: Pick<KeyRow, "parentId" | "parent2Id" | "parent3Id">): readonly string[] {
  if (parentId === null) return NO_PARENTS;
  return Object.freeze([parentId, parent2Id, parent3Id].filter((id) => id !== null));
}

function readPrevious({ previousHint: hint, previousEndsAtMs: endsAtMs }: KeyRow) {
  return hint === null || endsAtMs === null ? undefined : Object.freeze({ hint, endsAtMs });
}

/** Omits limits that the key does not set, so that spreading the result over the defaults keeps those. */
function readLimits({ requestsPerMinute, tokensPerMinute, concurrentRequests }: KeyRow): Limits {
  return {
    ...(requestsPerMinute === null ? {} : { requestsPerMinute }),
    ...(tokensPerMinute === null ? {} : { tokensPerMinute }),
    ...(concurrentRequests === null ? {} : { concurrentRequests }),
  };
}

/** The columns of a caller: those of its key, its account, and the person who made the key. */
export function callerColumns({ tables: { accounts, apiKeys, people } }: Database) {
  const { state, markup, endUsers, tagKeys, hasScopes, planModels, planMarkup } = accounts;
  const ofPlan = { planModels, planMarkup };
  return { key: apiKeys, state, markup, endUsers, tagKeys, hasScopes, ...ofPlan, memberId: people.id };
}

interface CallerRow {
  readonly key: KeyRow;
  readonly state: "active" | "suspended";
  readonly markup: number | null;
  readonly endUsers: "hashed" | "off" | null;
  readonly tagKeys: readonly string[] | null;
  readonly hasScopes: boolean;
  readonly planModels: readonly string[] | null;
  readonly planMarkup: number | null;
  readonly memberId: string | null;
}

export function readCaller({
  key,
  state,
  markup,
  endUsers,
  tagKeys,
  hasScopes,
  planModels,
  planMarkup,
  memberId,
}: CallerRow): Caller {
  return {
    key: withinPlan(readKey(key), planModels),
    accountSuspended: state === "suspended",
    markup: readMarkup(markup ?? planMarkup),
    endUsers: endUsers ?? undefined,
    tagKeys: tagKeys ?? undefined,
    hasScopes,
    memberId: memberId ?? undefined,
  };
}

/** Returns a key with those of its models that the plan of its account has. */
function withinPlan(key: ApiKey, models: readonly string[] | null): ApiKey {
  if (models === null) return key;
  const allowed = key.models?.filter((model) => models.includes(model)) ?? models;
  return Object.freeze({ ...key, models: Object.freeze(allowed) });
}
