import { and, eq } from "drizzle-orm";
import type { Database, Db, Tables } from "../../db/database.ts";
import { findAccount, lockAccount } from "../accounts.ts";
import { type AuditActor, isMoreThan, type Role, recordChange } from "../audit-trail.ts";
import { endRightsOfMember, endRightsOfOperator } from "../people/left-rights.ts";
import { deleteSessions } from "../people/sessions.ts";
import type { GroupRights } from "./claims.ts";

type Identity = Pick<Tables["identities"]["$inferSelect"], "id" | "personId" | "provider">;

/** The rights that groups give now, with the accounts that exist. */
export interface PresentRights {
  readonly isOperator: boolean;
  /** By the account's id. */
  readonly roles: ReadonlyMap<string, Role>;
}

const NO_RIGHTS: PresentRights = { isOperator: false, roles: new Map() };

/** Finds the accounts of rights by their ids or names. Accounts that do not exist give nothing. */
export async function resolveRights(
  database: Database,
  { isOperator, roles }: GroupRights,
): Promise<PresentRights> {
  const found = new Map<string, Role>();
  for (const [idOrName, role] of roles) {
    const account = await findAccount(database, idOrName);
    if (account && isMoreThan(role, found.get(account.id))) found.set(account.id, role);
  }
  return { isOperator, roles: found };
}

interface GivenRights {
  readonly identity: Identity;
  readonly rights: PresentRights;
}

/**
 * Makes the rights that groups gave to an identity equal to those of now, in a transaction: a group that was left takes
 * its roles with it, and what the person made by them. Rights that people gave stay as they are. More rights end the
 * person's sessions.
 */
export async function applyGroupRights(
  database: Database,
  tx: Db,
  { identity, rights }: GivenRights,
  nowMs: number,
): Promise<void> {
  const name = `groups at ${identity.provider}`;
  const actor: AuditActor = { kind: "system", id: "system", name };
  const isMore = await replaceRights({ database, tx, actor, nowMs, identity }, rights);
  if (isMore) await deleteSessions(database, tx, { personId: identity.personId });
}

/** Ends every right that groups gave to an identity, in a transaction. */
export async function endGroupRights(
  database: Database,
  tx: Db,
  { identity, actor }: { readonly identity: Identity; readonly actor: AuditActor },
  nowMs: number,
): Promise<void> {
  await replaceRights({ database, tx, actor, nowMs, identity }, NO_RIGHTS);
}

interface Replacement {
  readonly database: Database;
  readonly tx: Db;
  readonly actor: AuditActor;
  readonly nowMs: number;
  readonly identity: Identity;
}

/** Returns whether the person has more rights than before. */
async function replaceRights(parts: Replacement, { isOperator, roles }: PresentRights): Promise<boolean> {
  const { members } = parts.database.tables;
  const isGiven = eq(members.identityId, parts.identity.id);
  const given = await parts.tx.select({ id: members.accountId }).from(members).where(isGiven);
  // One order of locks for all, so that two sign-ins never wait for each other.
  const accountIds = [...new Set([...given.map(({ id }) => id), ...roles.keys()])].sort();
  let isMore = false;
  for (const accountId of accountIds) {
    isMore = (await replaceRole(parts, accountId, roles.get(accountId))) || isMore;
  }
  return (await replaceOperator(parts, isOperator)) || isMore;
}

async function replaceRole(parts: Replacement, accountId: string, role: Role | undefined): Promise<boolean> {
  const { database, tx, identity } = parts;
  const { personId } = identity;
  const { members } = database.tables;
  await lockAccount(database, tx, accountId);
  const isRow = and(eq(members.accountId, accountId), eq(members.personId, personId));
  const [before] = await tx.select().from(members).where(isRow);
  // A role that a person gave is for people to take.
  if (before && before.identityId !== identity.id) return false;
  if (before?.role === role) return false;
  if (!role) await tx.delete(members).where(isRow);
  else if (before) await tx.update(members).set({ role }).where(isRow);
  else {
    const row = { accountId, personId, role, createdAtMs: parts.nowMs, identityId: identity.id };
    await tx.insert(members).values(row);
  }
  await recordRole(parts, { accountId, before: before?.role, after: role });
  const withdrawal = { ...parts, keysTo: undefined };
  if (before) await endRightsOfMember(withdrawal, { accountId, personId, role });
  return role !== undefined && isMoreThan(role, before?.role);
}

interface RoleChange {
  readonly accountId: string;
  readonly before: Role | undefined;
  readonly after: Role | undefined;
}

async function recordRole(parts: Replacement, { accountId, before, after }: RoleChange): Promise<void> {
  const { database, tx, actor, identity, nowMs } = parts;
  const action = before ? (after ? "member.role_changed" : "member.removed") : "member.added";
  const change = {
    accountId,
    action,
    target: identity.personId,
    before: before && { role: before },
    after: after && { role: after },
  };
  await recordChange(database, tx, actor, change, nowMs);
}

async function replaceOperator(parts: Replacement, isOperator: boolean): Promise<boolean> {
  const { database, tx, actor, identity, nowMs } = parts;
  const { personId } = identity;
  const { people } = database.tables;
  const [person] = await tx.select().from(people).where(eq(people.id, personId));
  const isGiven = person?.operatorIdentityId === identity.id;
  if (!person || isOperator === isGiven || (isOperator && person.isOperator)) return false;
  const set = { isOperator, operatorIdentityId: isOperator ? identity.id : null };
  await tx.update(people).set(set).where(eq(people.id, personId));
  const action = isOperator ? "operator.added" : "operator.removed";
  const change = { action, target: personId, after: { email: person.email } };
  await recordChange(database, tx, actor, change, nowMs);
  if (isOperator) return true;
  await endRightsOfOperator({ ...parts, keysTo: undefined }, personId);
  // Also what the person acts in or watches.
  await deleteSessions(database, tx, { personId });
  return false;
}
