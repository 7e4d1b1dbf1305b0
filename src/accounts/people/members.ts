import { and, asc, countDistinct, eq, inArray, max } from "drizzle-orm";
import type { Database, DatabaseParts, Db } from "../../db/database.ts";
import { GatewayError } from "../../errors.ts";
import { lockAccount } from "../accounts.ts";
import { type Actor, type AuditActor, isMoreThan, type Role, recordChange } from "../audit-trail.ts";
import { endRightsOfMember } from "./left-rights.ts";
import { isMemberNow } from "./people.ts";
import { requireGiver } from "./present-rights.ts";
import { deleteSessions } from "./sessions.ts";

/**
 * Finds the role of an actor in an account. A management key of the platform is an owner everywhere, an
 * operator who acts inside the account is `acting`, and every other person has the role of its membership.
 */
export async function findRole(
  { db, tables }: Database,
  actor: Actor,
  { accountId, nowMs }: { readonly accountId: string; readonly nowMs: number },
): Promise<Role | "acting" | undefined> {
  if (actor.kind === "management_key") {
    if (actor.isOperator) return "owner";
    return actor.role?.accountId === accountId ? actor.role.role : undefined;
  }
  const { members } = tables;
  const isMember = and(eq(members.accountId, accountId), isMemberNow(tables, actor));
  const [member] = await db.select({ role: members.role }).from(members).where(isMember);
  if (member) return member.role;
  const { acting } = actor;
  return acting?.accountId === accountId && nowMs < acting.untilMs ? "acting" : undefined;
}

/** A person with a role in an account. */
export interface Member {
  readonly personId: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly joinedAtMs: number;
  /** When the person last used a session that has not ended. */
  readonly lastSeenAtMs: number | undefined;
}

/** Lists the members of an account, the first one first. */
export async function listMembers(database: Database, accountId: string): Promise<readonly Member[]> {
  const { db, tables } = database;
  const { members, people } = tables;
  const rows = await db
    .select({
      personId: members.personId,
      name: people.name,
      email: people.email,
      role: members.role,
      joinedAtMs: members.createdAtMs,
    })
    .from(members)
    .innerJoin(people, eq(people.id, members.personId))
    .where(eq(members.accountId, accountId))
    .orderBy(asc(members.createdAtMs), asc(members.personId));
  const seen = await lastSeen(
    database,
    rows.map(({ personId }) => personId),
  );
  return rows.map((row) => ({ ...row, lastSeenAtMs: seen.get(row.personId) }));
}

/**
 * Whether one person may send requests of both accounts, as owner or developer. Operators do not count: an
 * installation may have one owner of all accounts, who runs it.
 */
export async function isOnePerson(
  { db, tables: { members, people } }: Database,
  accountId: string,
  otherId: string,
): Promise<boolean> {
  const isSender = and(
    inArray(members.accountId, [accountId, otherId]),
    inArray(members.role, ["owner", "developer"]),
    eq(people.isOperator, false),
  );
  const both = await db
    .select({ personId: members.personId })
    .from(members)
    .innerJoin(people, eq(people.id, members.personId))
    .where(isSender)
    .groupBy(members.personId)
    .having(eq(countDistinct(members.accountId), 2))
    .limit(1);
  return both.length > 0;
}

/** Returns when people last used a session, by their ids, in Unix milliseconds. */
export async function lastSeen(
  { db, tables: { sessions } }: Database,
  personIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (personIds.length === 0) return new Map();
  const rows = await db
    .select({ personId: sessions.userId, at: max(sessions.updatedAt) })
    .from(sessions)
    .where(inArray(sessions.userId, [...personIds]))
    .groupBy(sessions.userId);
  return new Map(
    rows.flatMap(({ personId, at }) => (at === null ? [] : [[personId, at.getTime()] as const])),
  );
}

interface MemberOf {
  readonly accountId: string;
  readonly personId: string;
}

interface FewerRights extends MemberOf {
  /** Id of the owner who takes over the keys that the member made. Without one, they are revoked. */
  readonly keysTo?: string | undefined;
}

/**
 * Changes the role of a member. More rights end its sessions; fewer count at once, and end what the member made by
 * the others. Rejects with `unknown_item`, with `conflict` when the account would have no owner left, with
 * `wrong_shape` when `keysTo` is no other owner, and with `not_permitted` when an operator who acts inside an account
 * with an owner would give more rights.
 */
export async function changeRole(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  { accountId, personId, role, keysTo }: FewerRights & { readonly role: Role },
): Promise<void> {
  const { members } = database.tables;
  await database.transact(async (tx) => {
    const before = await lockMember(database, tx, { accountId, personId });
    if (before === role) return;
    const isMore = isMoreThan(role, before);
    if (isMore) await requireGiver(database, tx, actor, accountId);
    if (before === "owner") await requireOtherOwner(database, tx, { accountId, personId });
    await tx.update(members).set({ role }).where(isMember(database, { accountId, personId }));
    const roles = { before: { role: before }, after: { role } };
    const change = { accountId, action: "member.role_changed", target: personId, ...roles };
    const nowMs = now();
    await recordChange(database, tx, actor, change, nowMs);
    const withdrawal = { database, tx, actor, nowMs, keysTo };
    await endRightsOfMember(withdrawal, { accountId, personId, role });
    // A session that was planted or stolen before must not gain the new rights.
    if (isMore) await deleteSessions(database, tx, { personId });
  });
}

/** Removes a member, also the actor itself, with the keys that it made. Rejects like {@link changeRole}. */
export async function removeMember(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  { accountId, personId, keysTo }: FewerRights,
): Promise<void> {
  const { members } = database.tables;
  await database.transact(async (tx) => {
    const role = await lockMember(database, tx, { accountId, personId });
    if (role === "owner") await requireOtherOwner(database, tx, { accountId, personId });
    await tx.delete(members).where(isMember(database, { accountId, personId }));
    const action = actor.id === personId ? "member.left" : "member.removed";
    const change = { accountId, action, target: personId, before: { role } };
    const nowMs = now();
    await recordChange(database, tx, actor, change, nowMs);
    const withdrawal = { database, tx, actor, nowMs, keysTo };
    await endRightsOfMember(withdrawal, { accountId, personId, role: undefined });
  });
}

/** Locks the account, so that two owners cannot demote each other at once. Returns the member's role. */
async function lockMember(database: Database, tx: Db, member: MemberOf): Promise<Role> {
  const { members } = database.tables;
  await lockAccount(database, tx, member.accountId);
  const [row] = await tx.select({ role: members.role }).from(members).where(isMember(database, member));
  if (!row) throw new GatewayError("unknown_item");
  return row.role;
}

async function requireOtherOwner(database: Database, tx: Db, { accountId, personId }: MemberOf) {
  const { members } = database.tables;
  const owners = await tx
    .select({ personId: members.personId })
    .from(members)
    .where(and(eq(members.accountId, accountId), eq(members.role, "owner")));
  if (owners.some((owner) => owner.personId !== personId)) return;
  throw new GatewayError("conflict", {
    message: "An account keeps an owner: make another member owner first.",
  });
}

function isMember({ tables: { members } }: Database, { accountId, personId }: MemberOf) {
  return and(eq(members.accountId, accountId), eq(members.personId, personId));
}
