import type { apiKeys } from "../db/sqlite/schema.ts";
import type { Limits } from "../limiter/limiter.ts";
import type { ApiKey } from "./key.ts";

type KeyRow = typeof apiKeys.$inferSelect;

/** Turns a row into a key, without its digest; frozen, because callers share it. */
export function readKey(row: KeyRow): ApiKey {
  return Object.freeze({
    id: row.id,
    accountId: row.accountId,
    name: row.name,
    hint: row.hint,
    limits: Object.freeze(readLimits(row)),
    models: row.models ? Object.freeze(row.models) : undefined,
    allowsClamp: row.allowsClamp,
    createdAtMs: row.createdAtMs,
    expiresAtMs: row.expiresAtMs ?? undefined,
    revokedAtMs: row.revokedAtMs ?? undefined,
  });
}

/** Only the bounds that the key names are there, so that spreading them over defaults keeps the rest. */
function readLimits({ requestsPerMinute, tokensPerMinute, concurrentRequests }: KeyRow): Limits {
  return {
    ...(requestsPerMinute === null ? {} : { requestsPerMinute }),
    ...(tokensPerMinute === null ? {} : { tokensPerMinute }),
    ...(concurrentRequests === null ? {} : { concurrentRequests }),
  };
}
