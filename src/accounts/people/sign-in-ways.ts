import { and, eq, isNotNull } from "drizzle-orm";
import type { Database, Db, Tables } from "../../db/database.ts";
import { GatewayError } from "../../errors.ts";
import { type AuditActor, recordChange } from "../audit-trail.ts";
import { type Identity, listIdentities, unlinkIdentity } from "../oidc/identities.ts";
import { deleteSecondFactor } from "../second-factor/second-factor.ts";
import { deleteSessions } from "./sessions.ts";

const PASSKEYS_MAX = 20;

/** How a person may sign in. */
export interface SignInWays {
  readonly hasPassword: boolean;
  readonly identities: readonly Identity[];
  readonly passkeys: readonly Tables["passkeys"]["$inferSelect"][];
  /** Recovery codes that are left; `undefined` without a second factor. */
  readonly recoveryCodes: number | undefined;
}

/** Lists the ways by which a person may sign in. */
export async function listSignInWays(database: Database, personId: string): Promise<SignInWays> {
  const { db, tables } = database;
  const { passkeys, secondFactors } = tables;
  const isOn = and(eq(secondFactors.personId, personId), isNotNull(secondFactors.confirmedAtMs));
  const [hasPassword, identities, keys, [factor]] = await Promise.all([
    findPassword(database, db, personId),
    listIdentities(database, personId),
    db.select().from(passkeys).where(eq(passkeys.personId, personId)).orderBy(passkeys.createdAtMs),
    db.select().from(secondFactors).where(isOn),
  ]);
  // Safe because the column is written by us.
  const codes = factor && (JSON.parse(factor.recoveryDigests) as readonly string[]);
  return { hasPassword, identities, passkeys: keys, recoveryCodes: codes?.length };
}

async function findPassword({ tables }: Database, db: Db, personId: string): Promise<boolean> {
  const { credentials } = tables;
  const isOwn = and(eq(credentials.userId, personId), isNotNull(credentials.password));
  return (await db.select({ id: credentials.id }).from(credentials).where(isOwn).limit(1)).length > 0;
}

interface Removal {
  readonly personId: string;
  readonly actor: AuditActor;
  /** Whether passwords and passkeys count as a way, by the file. */
  readonly requiresProvider: boolean;
}

/**
 * Unlinks an identity of a person. Rejects with `unknown_item`, and with `conflict` for the last way to sign in.
 */
export async function removeIdentity(
  database: Database,
  { identityId, ...removal }: Removal & { readonly identityId: string },
  nowMs: number,
): Promise<void> {
  await database.transact(async (tx) => {
    await lockPerson(database, tx, removal.personId);
    await unlinkIdentity(database, tx, { ...removal, identityId }, nowMs);
    await requireWay(database, tx, removal);
  });
}

/** Makes removals of one person's ways run one after the other: two at once could take the last two. */
export async function lockPerson({ tables: { people } }: Database, tx: Db, personId: string): Promise<void> {
  const set = { id: personId };
  await tx.update(people).set(set).where(eq(people.id, personId));
}

/** Throws `conflict` for another passkey above the bound. Registrations that were begun together must not pass it together. */
export async function requireRoom(
  { tables: { passkeys } }: Database,
  tx: Db,
  personId: string,
): Promise<void> {
  const own = await tx.select({ id: passkeys.id }).from(passkeys).where(eq(passkeys.personId, personId));
  if (own.length >= PASSKEYS_MAX) throw new GatewayError("conflict");
}

/** Throws `conflict` when a person has no way left to sign in; called after a removal, with the person locked. */
export async function requireWay(
  database: Database,
  tx: Db,
  { personId, requiresProvider }: Pick<Removal, "personId" | "requiresProvider">,
): Promise<void> {
  const { identities, passkeys } = database.tables;
  const isOwn = eq(identities.personId, personId);
  const linked = await tx.select({ id: identities.id }).from(identities).where(isOwn).limit(1);
  if (linked.length > 0) return;
  if (!requiresProvider) {
    if (await findPassword(database, tx, personId)) return;
    const isKey = eq(passkeys.personId, personId);
    if ((await tx.select({ id: passkeys.id }).from(passkeys).where(isKey).limit(1)).length > 0) return;
  }
  const message = "This is the only way to sign in: add another one first.";
  throw new GatewayError("conflict", { message });
}

/**
 * Takes a way to sign in from a person, also the last one, and ends the person's sessions: an identity or a passkey by
 * its id, or `second-factor`. Rejects with `unknown_item`.
 */
export async function endWay(
  database: Database,
  { actor, personId, way }: { readonly actor: AuditActor; readonly personId: string; readonly way: string },
  nowMs: number,
): Promise<void> {
  await database.transact(async (tx) => {
    await deleteSessions(database, tx, { personId });
    if (way === "second-factor") await deleteSecondFactor(database, tx, { actor, personId }, nowMs);
    else if (!(await deletePasskey(database, tx, { actor, personId, id: way }, nowMs))) {
      await unlinkIdentity(database, tx, { actor, personId, identityId: way }, nowMs);
    }
  });
}

interface PasskeyRemoval {
  readonly actor: AuditActor;
  readonly personId: string;
  readonly id: string;
  readonly keptId?: string | undefined;
}

/**
 * Removes a passkey of a person, in a transaction, and ends the sessions that passkeys opened, except `keptId`: its
 * device may be lost. Returns `false` where the person has no such passkey.
 */
export async function deletePasskey(
  database: Database,
  tx: Db,
  { actor, personId, id, keptId }: PasskeyRemoval,
  nowMs: number,
): Promise<boolean> {
  const { passkeys } = database.tables;
  const isWanted = and(eq(passkeys.id, id), eq(passkeys.personId, personId));
  const [row] = await tx.delete(passkeys).where(isWanted).returning();
  if (!row) return false;
  await deleteSessions(database, tx, { personId, keptId, way: "passkey" });
  const change = { action: "passkey.removed", target: personId, before: { name: row.name } };
  await recordChange(database, tx, actor, change, nowMs);
  return true;
}

/**
 * Ends the passkeys and identities of a person whose address is proven for the first time, in a transaction: a stranger
 * may have added them who had claimed the address. A second factor stays: control of a mailbox alone must not take it.
 */
export async function endUnprovenWays(
  database: Database,
  tx: Db,
  { actor, personId }: { readonly actor: AuditActor; readonly personId: string },
  nowMs: number,
): Promise<void> {
  const { passkeys, identities } = database.tables;
  const keys = await tx.select({ id: passkeys.id }).from(passkeys).where(eq(passkeys.personId, personId));
  for (const { id } of keys) await deletePasskey(database, tx, { actor, personId, id }, nowMs);
  const isOwn = eq(identities.personId, personId);
  const linked = await tx.select({ identityId: identities.id }).from(identities).where(isOwn);
  for (const each of linked) await unlinkIdentity(database, tx, { actor, personId, ...each }, nowMs);
}
