import { and, eq } from "drizzle-orm";
import { type Database, isInList, listOf } from "../../db/database.ts";
import { GatewayError } from "../../errors.ts";
import { platform } from "../../platform.ts";
import { type Authenticate, type Caller, digestOf, isSecret } from "./key.ts";
import { callerColumns, readCaller } from "./key-row.ts";
import { createInherit, type ReadCallers, withKeysAbove } from "./key-tree.ts";
import { createSharedReads, createTurnReads } from "./shared-reads.ts";

/** Maximum age of a cached caller: half of the second within which a revocation takes effect. */
const CACHE_AGE_MS_MAX = 500;
const CACHED_CALLERS_MAX = 10_000;

interface AuthenticateParts {
  readonly database: Database;
  /** Unix milliseconds, compared with the expiry of a key. */
  readonly now?: () => number;
  /** Milliseconds of a clock that cannot be set, used for the age of cached callers. */
  readonly monotonicMs?: () => number;
}

interface CacheEntry {
  readonly caller: Caller;
  readonly readAtMs: number;
}

/**
 * Authenticates from a cache of 10,000 callers that are at most 500 ms old, else with one indexed read for all
 * callers of an event-loop turn, or two for secrets that a rotation replaced.
 * Secrets are looked up by digest, so that response times reveal nothing about a guess. Unknown secrets are
 * not cached. Rejects with `internal` while the database is unavailable: older entries are not used.
 */
export function createAuthenticate({
  database,
  now = platform.now,
  monotonicMs = () => platform.monotonicMs(),
}: AuthenticateParts): Authenticate {
  const read = createSharedReads(createCallerRead(database), {
    now: monotonicMs,
    sharedMs: CACHE_AGE_MS_MAX,
  });
  const cache = new Map<string, CacheEntry>();

  const findCached = (digest: string): Caller | undefined => {
    const cached = cache.get(digest);
    return cached && isFresh(cached.readAtMs, monotonicMs()) ? cached.caller : undefined;
  };

  const readAndKeep = async (digest: string): Promise<Caller | undefined> => {
    cache.delete(digest);
    const { value: caller, beganAtMs } = await read(digest);
    if (caller) remember(digest, { caller: Object.freeze(caller), readAtMs: beganAtMs });
    return caller;
  };

  const remember = (digest: string, entry: CacheEntry) => {
    const oldest = cache.size < CACHED_CALLERS_MAX ? undefined : cache.keys().next().value;
    if (oldest !== undefined) cache.delete(oldest);
    cache.set(digest, entry);
  };

  const find = async (digest: string | undefined): Promise<Caller> => {
    const caller = digest === undefined ? undefined : (findCached(digest) ?? (await readAndKeep(digest)));
    if (!caller) throw new GatewayError("unknown_key");
    if (!isInForce(caller, now())) throw new GatewayError("unknown_key", { facts: { key: caller.key } });
    return caller;
  };

  return (secret) => {
    const digest = secret !== undefined && isSecret(secret) ? digestOf(secret) : undefined;
    const cached = digest === undefined ? undefined : findCached(digest);
    return cached && isInForce(cached, now()) ? cached : find(digest);
  };
}

/**
 * Finds a key of an account by its id, as the caller of a request that a session authorises. Throws
 * `unknown_key` unless the key is in force.
 */
export async function findCaller(
  database: Database,
  { accountId, keyId, nowMs }: { readonly accountId: string; readonly keyId: string; readonly nowMs: number },
): Promise<Caller> {
  const { accounts, apiKeys, people } = database.tables;
  const [row] = await database.db
    .select(callerColumns(database))
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .leftJoin(people, eq(people.id, apiKeys.createdBy))
    .where(and(eq(apiKeys.id, keyId), eq(apiKeys.accountId, accountId)));
  const found = row && readCaller(row);
  const [key] = found ? await createInherit(database)([found.key]) : [];
  const caller = found && key && { ...found, key };
  if (!caller || !isInForce(caller, nowMs)) throw new GatewayError("unknown_key");
  return caller;
}

function isFresh(readAtMs: number, nowMs: number): boolean {
  return nowMs >= readAtMs && nowMs - readAtMs < CACHE_AGE_MS_MAX;
}

function isInForce({ key, secretEndsAtMs }: Caller, nowMs: number): boolean {
  if (secretEndsAtMs !== undefined && nowMs >= secretEndsAtMs) return false;
  return key.revokedAtMs === undefined && (key.expiresAtMs === undefined || nowMs < key.expiresAtMs);
}

/**
 * Reads by the current digest first: only unknown secrets, or those that a rotation replaced, cost a second
 * indexed read. In this order no rotation between the two reads hides a secret that is in force.
 */
function createCallerRead(database: Database) {
  const findCurrent = prepareFind(database, "digest");
  const findPrevious = prepareFind(database, "previousDigest");
  const read: ReadCallers = async (digests) => {
    const callers = await findCurrent(digests);
    const others = digests.filter((digest) => !callers.has(digest));
    if (others.length === 0) return callers;
    for (const [digest, previous] of await findPrevious(others)) {
      callers.set(digest, { ...previous, secretEndsAtMs: previous.key.previous?.endsAtMs });
    }
    return callers;
  };
  return createTurnReads(withKeysAbove(database, read));
}

/** The query is built once: with many keys, nearly each request reads its own. */
function prepareFind(database: Database, column: "digest" | "previousDigest") {
  const { accounts, apiKeys, people } = database.tables;
  const query = database.db
    .select(callerColumns(database))
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .leftJoin(people, eq(people.id, apiKeys.createdBy))
    .where(isInList(database, apiKeys[column]))
    .prepare();
  return async (digests: readonly string[]) => {
    const rows = await query.execute(listOf(database, digests));
    return new Map(rows.map((row) => [row.key[column] ?? "", readCaller(row)]));
  };
}
