import { and, asc, eq, isNull } from "drizzle-orm";
import type { Database, DatabaseParts, Db, Tables } from "../../db/database.ts";
import { GatewayError } from "../../errors.ts";
import { platform } from "../../platform.ts";
import { type Actor, type AuditActor, type Role, recordChange } from "../audit-trail.ts";
import { requirePresentRight } from "../people/present-rights.ts";
import { createToken, digestOf } from "./key.ts";

const PREFIX = "mk-tg-";
const HINT_LENGTH = PREFIX.length + 4;
const SECRET = /^mk-tg-[\w-]{43}$/;
/** A use is recorded at most this often. */
const USE_RECORDED_MS = 60_000;

/** A key as it is stored: without its secret. */
export type ManagementKey = Omit<Tables["managementKeys"]["$inferSelect"], "digest">;

/** Where a management key works: in one account, or on the whole platform. */
export type ManagementScope =
  | { readonly accountId: string; readonly role: Role }
  | { readonly accountId: undefined; readonly role: "operator" };

export type NewManagementKey = ManagementScope & {
  readonly name: string;
  readonly expiresAtMs: number | undefined;
};

export interface IssuedManagementKey {
  readonly key: ManagementKey;
  /** "mk-tg-" and 43 characters. Returned only here. */
  readonly secret: string;
}

/**
 * Issues a key for programs. `issued` runs in the transaction that stores it. Rejects with `wrong_shape` for
 * an expiry in the past.
 */
export async function issueManagementKey(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  { accountId, role, name, expiresAtMs }: NewManagementKey,
  issued?: (tx: Db, result: IssuedManagementKey) => Promise<void>,
): Promise<IssuedManagementKey> {
  const nowMs = now();
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) {
    throw new GatewayError("wrong_shape", { path: "expires_at" });
  }
  const secret = PREFIX + createToken();
  const id = platform.uuidV7(nowMs);
  const hint = secret.slice(0, HINT_LENGTH);
  const values = { id, accountId: accountId ?? null, name, hint, role, createdBy: actor.id };
  return database.transact(async (tx) => {
    await requirePresentRight(database, tx, actor, { accountId, roles: ["owner"] });
    const [row] = await tx
      .insert(database.tables.managementKeys)
      .values({ ...values, digest: digestOf(secret), createdAtMs: nowMs, expiresAtMs: expiresAtMs ?? null })
      .returning();
    if (!row) throw new Error("The insert returned no row");
    const after = { name, role, hint, expires_at_ms: expiresAtMs };
    const change = { accountId, action: "management_key.created", target: id, after };
    await recordChange(database, tx, actor, change, nowMs);
    const result = { key: withoutDigest(row), secret };
    await issued?.(tx, result);
    return result;
  });
}

/** Lists the keys of an account, or without one those of the platform, oldest first. */
export async function listManagementKeys(
  { db, tables: { managementKeys } }: Database,
  accountId: string | undefined,
): Promise<readonly ManagementKey[]> {
  const rows = await db
    .select()
    .from(managementKeys)
    .where(isOf(managementKeys, accountId))
    .orderBy(asc(managementKeys.createdAtMs), asc(managementKeys.id));
  return rows.map(withoutDigest);
}

/** Revokes a key, from its next request on. Rejects with `unknown_item`, also for a revoked key. */
export async function revokeManagementKey(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  { id, accountId }: { readonly id: string; readonly accountId: string | undefined },
): Promise<void> {
  const { managementKeys } = database.tables;
  await database.transact(async (tx) => {
    const nowMs = now();
    const isActive = and(eq(managementKeys.id, id), isNull(managementKeys.revokedAtMs));
    const [revoked] = await tx
      .update(managementKeys)
      .set({ revokedAtMs: nowMs })
      .where(and(isActive, isOf(managementKeys, accountId)))
      .returning();
    if (!revoked) throw new GatewayError("unknown_item");
    const { name, hint } = revoked;
    const change = { accountId, action: "management_key.revoked", target: id, before: { name, hint } };
    await recordChange(database, tx, actor, change, nowMs);
  });
}

/**
 * Finds the actor of a secret, by its digest. `undefined` for a text of another form, and for an unknown,
 * expired or revoked key. The use is recorded in the background, at most once a minute.
 */
export async function findManagementKey(
  database: Database,
  secret: string,
  nowMs: number,
): Promise<Actor | undefined> {
  if (!SECRET.test(secret)) return undefined;
  const { managementKeys } = database.tables;
  const isMatch = and(eq(managementKeys.digest, digestOf(secret)), isNull(managementKeys.revokedAtMs));
  const [key] = await database.db.select().from(managementKeys).where(isMatch);
  if (!key || (key.expiresAtMs !== null && nowMs >= key.expiresAtMs)) return undefined;
  recordUse(database, key, nowMs);
  const { id, role, accountId, hint } = key;
  const isOperator = role === "operator" && accountId === null;
  const inAccount = role === "operator" || accountId === null ? undefined : { accountId, role };
  const none = { acting: undefined, session: undefined, address: undefined };
  return { kind: "management_key", id, name: hint, isOperator, role: inAccount, ...none };
}

/**
 * Whether a management key is one of the platform, or was made with one or by no member of its account: operators may
 * know its secret.
 */
export async function isOfPlatform(database: Database, id: string): Promise<boolean> {
  const { db, tables } = database;
  const { managementKeys, members } = tables;
  const [key] = await db.select().from(managementKeys).where(eq(managementKeys.id, id));
  if (!key) return false;
  const { accountId, createdBy } = key;
  if (accountId === null) return true;
  const isMember = and(eq(members.accountId, accountId), eq(members.personId, createdBy));
  const [member] = await db.select({ id: members.personId }).from(members).where(isMember);
  if (member) return false;
  const isMaker = eq(managementKeys.id, createdBy);
  const [maker] = await db.select({ id: managementKeys.id }).from(managementKeys).where(isMaker);
  return maker === undefined || isOfPlatform(database, maker.id);
}

function recordUse(database: Database, { id, lastUsedAtMs }: ManagementKey, nowMs: number): void {
  if (lastUsedAtMs !== null && nowMs - lastUsedAtMs < USE_RECORDED_MS) return;
  const { managementKeys } = database.tables;
  // Not awaited: a use that is not recorded does no harm.
  database
    .transact((tx) => tx.update(managementKeys).set({ lastUsedAtMs: nowMs }).where(eq(managementKeys.id, id)))
    .catch(() => undefined);
}

function isOf(table: Database["tables"]["managementKeys"], accountId: string | undefined) {
  return accountId === undefined ? isNull(table.accountId) : eq(table.accountId, accountId);
}

function withoutDigest({ digest: _, ...key }: Tables["managementKeys"]["$inferSelect"]): ManagementKey {
  return key;
}
