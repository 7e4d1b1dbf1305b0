import { and, asc, eq } from "drizzle-orm";
import type { Database, Db, Tables } from "../../db/database.ts";
import { GatewayError } from "../../errors.ts";
import { platform } from "../../platform.ts";
import { type AuditActor, recordChange } from "../audit-trail.ts";
import type { Claims } from "./claims.ts";
import { endGroupRights } from "./group-rights.ts";

export type Identity = Tables["identities"]["$inferSelect"];

/** Finds an identity by issuer and subject. An e-mail address never identifies. */
export async function findIdentity(
  { tables: { identities } }: Database,
  db: Db,
  { issuer, subject }: Pick<Claims, "issuer" | "subject">,
): Promise<Identity | undefined> {
  const isSame = and(eq(identities.issuer, issuer), eq(identities.subject, subject));
  const [row] = await db.select().from(identities).where(isSame);
  return row;
}

/** Lists the identities of a person, oldest first. */
export async function listIdentities(
  { db, tables: { identities } }: Database,
  personId: string,
): Promise<readonly Identity[]> {
  const isOwn = eq(identities.personId, personId);
  return db.select().from(identities).where(isOwn).orderBy(asc(identities.createdAtMs), asc(identities.id));
}

interface NewIdentity {
  readonly personId: string;
  readonly provider: string;
  readonly claims: Claims;
}

/** Links an identity to a person in a transaction. Rejects with `conflict` for one that has a person. */
export async function linkIdentity(
  database: Database,
  tx: Db,
  { personId, provider, claims, actor }: NewIdentity & { readonly actor: AuditActor },
  nowMs: number,
): Promise<Identity> {
  const { identities } = database.tables;
  const { issuer, subject, email } = claims;
  const id = platform.uuidV7(nowMs);
  const times = { createdAtMs: nowMs, lastUsedAtMs: nowMs };
  const [row] = await tx
    .insert(identities)
    .values({ id, personId, provider, issuer, subject, email: email ?? null, ...times })
    .onConflictDoNothing()
    .returning();
  if (!row) throw new GatewayError("conflict", { message: "This identity belongs to a person already." });
  const after = { provider, issuer, subject, email };
  const change = { action: "identity.linked", target: personId, after };
  await recordChange(database, tx, actor, change, nowMs);
  return row;
}

/** Records a sign-in by an identity in a transaction. */
export async function touchIdentity(
  { tables: { identities } }: Database,
  tx: Db,
  { identity, provider, claims }: { identity: Identity; provider: string; claims: Claims },
  nowMs: number,
): Promise<void> {
  const set = { provider, email: claims.email ?? null, lastUsedAtMs: nowMs };
  await tx.update(identities).set(set).where(eq(identities.id, identity.id));
}

/**
 * Unlinks an identity in a transaction: its sessions end, and the rights that its groups gave. Rejects with
 * `unknown_item` where the person has no such identity.
 */
export async function unlinkIdentity(
  database: Database,
  tx: Db,
  { personId, identityId, actor }: { personId: string; identityId: string; actor: AuditActor },
  nowMs: number,
): Promise<void> {
  const { identities, sessions } = database.tables;
  const isWanted = and(eq(identities.id, identityId), eq(identities.personId, personId));
  const [row] = await tx.delete(identities).where(isWanted).returning();
  if (!row) throw new GatewayError("unknown_item");
  await tx.delete(sessions).where(eq(sessions.identityId, identityId));
  const { provider, issuer, subject, email } = row;
  const before = { provider, issuer, subject, email };
  await recordChange(database, tx, actor, { action: "identity.unlinked", target: personId, before }, nowMs);
  await endGroupRights(database, tx, { identity: row, actor }, nowMs);
}
