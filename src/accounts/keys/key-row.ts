import type { Tables } from "../../db/database.ts";
import type { Limits } from "../../limiter/limiter.ts";
import type { ApiKey } from "./key.ts";

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
  });
}

/** Most keys have no parent and share one list. */
const NO_PARENTS: readonly string[] = Object.freeze([]);

function parentsOf({ parentId, parent2Id, parent3Id }: KeyRow): readonly string[] {
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
