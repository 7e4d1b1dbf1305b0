// The keys above a key, whose bounds are its own, and the keys below it, which end with it.
import { and, eq, gt, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import { type Database, type Db, isInList, listOf } from "../../db/database.ts";
import { type ApiKey, type Caller, rootIdOf } from "./key.ts";
import { type KeyRow, readKey } from "./key-row.ts";

/** Returns a function that gives keys the bounds of the keys above them. Without such a key it reads nothing. */
export function createInherit(database: Database): (keys: readonly ApiKey[]) => Promise<readonly ApiKey[]> {
  const { apiKeys } = database.tables;
  const prepare = () => database.db.select().from(apiKeys).where(isInList(database, apiKeys.id)).prepare();
  let query: ReturnType<typeof prepare> | undefined;
  return async (keys) => {
    const ids = new Set(keys.flatMap(({ parentIds }) => parentIds));
    if (ids.size === 0) return keys;
    query ??= prepare();
    const rows = await query.execute(listOf(database, [...ids]));
    const above = new Map(rows.map((row) => [row.id, readKey(row)]));
    return keys.map((key) => inherit(key, above));
  };
}

/** Reads callers by the digests of their secrets. */
export type ReadCallers = (digests: readonly string[]) => Promise<Map<string, Caller>>;

/** Binds callers by the keys above theirs, with one more read where there are any. */
export function withKeysAbove(database: Database, read: ReadCallers): ReadCallers {
  const inherit = createInherit(database);
  return async (digests) => {
    const callers = await read(digests);
    const isBelow = callers.values().some(({ key }) => key.parentIds.length > 0);
    if (!isBelow) return callers;
    const keys = await inherit([...callers.values()].map(({ key }) => key));
    const keyOf = new Map(keys.map((key) => [key.id, key]));
    for (const [digest, caller] of callers) {
      callers.set(digest, { ...caller, key: keyOf.get(caller.key.id) ?? caller.key });
    }
    return callers;
  };
}

/**
 * Returns a key as the keys above it bind it: rates, clamping and project of its root, models that all of them
 * allow, and the earliest end. So a change of a key binds the keys below it at once.
 */
export function inherit(key: ApiKey, above: ReadonlyMap<string, ApiKey>): ApiKey {
  if (key.parentIds.length === 0) return key;
  const parents = key.parentIds.map((id) => above.get(id));
  const root = parents.at(-1);
  const chain = [key, ...parents];
  const ends = chain.flatMap((each) => each?.expiresAtMs ?? []);
  return Object.freeze({
    ...key,
    limits: root?.limits ?? key.limits,
    allowsClamp: root?.allowsClamp ?? false,
    projectId: root?.projectId,
    models: chain.map((each) => each?.models).reduce(intersect),
    tiers: chain.map((each) => each?.tiers).reduce(intersect),
    forbidsPaidTools: chain.some((each) => each?.forbidsPaidTools) || undefined,
    allowsChildren: chain.every((each) => each?.allowsChildren) && key.parentIds.length < PARENTS_MAX,
    expiresAtMs: ends.length === 0 ? undefined : Math.min(...ends),
    // A deleted key ends those below it.
    revokedAtMs: chain
      .map((each) => (each ? each.revokedAtMs : key.createdAtMs))
      .find((ms) => ms !== undefined),
  });
}

/** The most keys above a key. */
export const PARENTS_MAX = 3;

type List<Item> = readonly Item[] | undefined;

function intersect<Item>(one: List<Item>, other: List<Item>): List<Item> {
  if (one === undefined || other === undefined) return one ?? other;
  return one.filter((each) => other.includes(each));
}

/**
 * Locks the root of a key until the transaction ends, before any other key of its tree: changes of a tree, and new
 * keys in it, follow each other.
 */
export async function lockTree({ tables: { apiKeys } }: Database, tx: Db, key: ApiKey): Promise<void> {
  await tx
    .update(apiKeys)
    .set({ version: sql`${apiKeys.version}` })
    .where(eq(apiKeys.id, rootIdOf(key)));
}

interface Tree {
  readonly database: Database;
  readonly tx: Db;
  /** The key whose keys below change. Its tree is locked. */
  readonly keyId: string;
}

/** Revokes the keys below a key. Like the other changes of them, it returns how many keys it changed. */
export async function revokeBelow({ database, tx, keyId }: Tree, revokedAtMs: number): Promise<number> {
  return changeBelow(database, tx, isBelow(database, keyId), { revokedAtMs });
}

/** Brings the end of the keys below a key forward. */
export async function endBelow({ database, tx, keyId }: Tree, expiresAtMs: number): Promise<number> {
  const isLater = endsLater(database, expiresAtMs);
  return changeBelow(database, tx, and(isBelow(database, keyId), isLater), { expiresAtMs });
}

/** Moves the keys below a key to its project, or to another author. */
export async function moveBelow(
  { database, tx, keyId }: Tree,
  set: Pick<Partial<KeyRow>, "projectId" | "createdBy">,
): Promise<number> {
  return changeBelow(database, tx, isBelow(database, keyId), set);
}

/** Revokes the keys that a secret of a key made, with all below them. */
export async function revokeMade(tree: Tree, digest: string, revokedAtMs: number): Promise<number> {
  return changeBelow(tree.database, tree.tx, isMadeBy(tree, digest), { revokedAtMs });
}

/** Brings the end of the keys that a secret of a key made forward, and that of all below them. */
export async function endMade(tree: Tree, digest: string, expiresAtMs: number): Promise<number> {
  const isLater = endsLater(tree.database, expiresAtMs);
  return changeBelow(tree.database, tree.tx, and(isMadeBy(tree, digest), isLater), { expiresAtMs });
}

async function changeBelow(
  { tables: { apiKeys } }: Database,
  tx: Db,
  isWanted: SQL | undefined,
  set: Partial<KeyRow>,
): Promise<number> {
  const changed = await tx
    .update(apiKeys)
    .set({ ...set, version: sql`${apiKeys.version} + 1` })
    .where(and(isWanted, isNull(apiKeys.revokedAtMs)))
    .returning({ id: apiKeys.id });
  return changed.length;
}

function isBelow({ tables: { apiKeys } }: Database, keyId: string): SQL | undefined {
  const { parentId, parent2Id, parent3Id } = apiKeys;
  return or(eq(parentId, keyId), eq(parent2Id, keyId), eq(parent3Id, keyId));
}

function isMadeBy({ database, tx, keyId }: Tree, digest: string): SQL | undefined {
  const { apiKeys } = database.tables;
  const { id, parentId, parent2Id } = apiKeys;
  const made = tx
    .select({ id })
    .from(apiKeys)
    .where(and(eq(parentId, keyId), eq(apiKeys.parentDigest, digest)));
  return or(inArray(id, made), inArray(parentId, made), inArray(parent2Id, made));
}

function endsLater({ tables: { apiKeys } }: Database, expiresAtMs: number): SQL | undefined {
  return or(isNull(apiKeys.expiresAtMs), gt(apiKeys.expiresAtMs, expiresAtMs));
}

/** Counts the keys in force that a key has made itself. */
export async function countChildren(
  { tables: { apiKeys } }: Database,
  tx: Db,
  { keyId, nowMs }: { readonly keyId: string; readonly nowMs: number },
): Promise<number> {
  const isInForce = and(isNull(apiKeys.revokedAtMs), gt(apiKeys.expiresAtMs, nowMs));
  const [row] = await tx
    .select({ count: sql<number>`count(*)`.mapWith(Number) })
    .from(apiKeys)
    .where(and(eq(apiKeys.parentId, keyId), isInForce));
  return row?.count ?? 0;
}
