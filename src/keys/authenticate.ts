import { eq, sql } from "drizzle-orm";
import type { SqliteDatabase } from "../db/sqlite/database.ts";
import { accounts, apiKeys } from "../db/sqlite/schema.ts";
import { GatewayError } from "../errors.ts";
import type { Authenticate, Caller } from "./key.ts";
import { readKey } from "./read-key.ts";
import { digestOf, isSecret } from "./secret.ts";

/** How long what was read is believed: half of the second within which a revocation is in force. */
const TRUSTED_MS = 500;
const CACHED_MAX = 10_000;

export interface AuthenticateParts {
  readonly database: SqliteDatabase;
  readonly now?: () => number;
}

interface CacheEntry {
  readonly caller: Caller;
  readonly readAtMs: number;
}

/**
 * Authenticates from a bounded cache that is at most 500 ms old, else with one indexed read. Secrets are
 * found by their digest, so no comparison tells how much of a guess is right; unknown ones leave no trace.
 */
export function createAuthenticate({ database, now = Date.now }: AuthenticateParts): Authenticate {
  const read = prepareRead(database);
  const cache = new Map<string, CacheEntry>();

  const find = (digest: string, nowMs: number): Caller | undefined => {
    const cached = cache.get(digest);
    const ageMs = cached ? nowMs - cached.readAtMs : -1;
    if (cached && ageMs >= 0 && ageMs < TRUSTED_MS) return cached.caller;
    cache.delete(digest);
    const caller = read(digest);
    if (caller) remember(digest, { caller, readAtMs: nowMs });
    return caller;
  };

  const remember = (digest: string, entry: CacheEntry) => {
    const oldest = cache.size < CACHED_MAX ? undefined : cache.keys().next().value;
    if (oldest !== undefined) cache.delete(oldest);
    cache.set(digest, entry);
  };

  return async (secret) => {
    if (secret === undefined || !isSecret(secret)) throw new GatewayError("unknown_key");
    const nowMs = now();
    const caller = find(digestOf(secret), nowMs);
    if (!caller || !isInForce(caller, nowMs)) throw new GatewayError("unknown_key");
    return caller;
  };
}

function isInForce({ key }: Caller, nowMs: number): boolean {
  return key.revokedAtMs === undefined && (key.expiresAtMs === undefined || nowMs < key.expiresAtMs);
}

function prepareRead({ db }: SqliteDatabase): (digest: string) => Caller | undefined {
  const query = db
    .select({ key: apiKeys, state: accounts.state })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .where(eq(apiKeys.digest, sql.placeholder("digest")))
    .prepare();
  return (digest) => {
    const row = query.get({ digest });
    return row && Object.freeze({ key: readKey(row.key), accountSuspended: row.state === "suspended" });
  };
}
