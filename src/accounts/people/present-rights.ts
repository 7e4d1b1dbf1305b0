import { and, eq, isNull } from "drizzle-orm";
import type { Database, Db } from "../../db/database.ts";
import { GatewayError } from "../../errors.ts";
import { lockAccount } from "../accounts.ts";
import type { AuditActor } from "../audit-trail.ts";
import { isMemberNow } from "./people.ts";

/** Where something is made that outlives the request. */
interface Place {
  /** `undefined` for the platform, where operators alone make something. */
  readonly accountId: string | undefined;
  /** The members who may make it. */
  readonly roles: readonly ("owner" | "developer")[];
}

/**
 * Checks in the transaction that makes a key, a link or an invitation that its author still has the right. The guard
 * has checked it before; a removal in between would miss what is made after it. Rejects with `not_permitted`.
 */
export async function requirePresentRight(
  database: Database,
  tx: Db,
  actor: AuditActor,
  { accountId, roles }: Place,
): Promise<void> {
  if (actor.kind === "command_line" || actor.kind === "system") return;
  // The lock that removals take: what they end is then complete.
  if (accountId !== undefined) await lockAccount(database, tx, accountId);
  const isPresent =
    actor.kind === "management_key"
      ? await lockManagementKey(database, tx, actor.id)
      : (accountId !== undefined && (await isMember(database, tx, { actor, accountId, roles }))) ||
        ((accountId === undefined || actor.acting?.accountId === accountId) &&
          (await lockOperator(database, tx, actor.id)));
  if (!isPresent) throw new GatewayError("not_permitted");
}

/**
 * Whether an operator is in an account by acting in it alone, and not as a member who may change something. What it
 * gives would outlive the 30 minutes.
 */
export async function isOnlyActing(
  database: Database,
  tx: Db,
  actor: AuditActor,
  accountId: string,
): Promise<boolean> {
  if (actor.acting?.accountId !== accountId) return false;
  return !(await isMember(database, tx, { actor, accountId, roles: ["owner", "developer"] }));
}

/**
 * Checks that an actor may give rights in an account, which an operator who acts inside may while there is no owner.
 * Must be called with the account locked. Rejects with `not_permitted`.
 */
export async function requireGiver(
  database: Database,
  tx: Db,
  actor: AuditActor,
  accountId: string,
): Promise<void> {
  if (!(await isOnlyActing(database, tx, actor, accountId))) return;
  const { members } = database.tables;
  const isOwner = and(eq(members.accountId, accountId), eq(members.role, "owner"));
  const owners = await tx.select({ id: members.personId }).from(members).where(isOwner).limit(1);
  if (owners.length === 0) return;
  throw new GatewayError("not_permitted", {
    message: "An account's owner gives its roles: you only act inside this account.",
  });
}

async function isMember(
  { tables }: Database,
  tx: Db,
  { actor, accountId, roles }: { actor: AuditActor; accountId: string; roles: Place["roles"] },
): Promise<boolean> {
  const { members } = tables;
  const isRow = and(eq(members.accountId, accountId), isMemberNow(tables, actor));
  const [member] = await tx.select({ role: members.role }).from(members).where(isRow);
  return roles.some((role) => role === member?.role);
}

async function lockManagementKey({ tables }: Database, tx: Db, id: string): Promise<boolean> {
  const { managementKeys } = tables;
  const isActive = and(eq(managementKeys.id, id), isNull(managementKeys.revokedAtMs));
  const set = { revokedAtMs: null };
  return (
    (await tx.update(managementKeys).set(set).where(isActive).returning({ id: managementKeys.id })).length > 0
  );
}

async function lockOperator({ tables: { people } }: Database, tx: Db, id: string): Promise<boolean> {
  const isOperator = and(eq(people.id, id), eq(people.isOperator, true));
  return (
    (await tx.update(people).set({ isOperator: true }).where(isOperator).returning({ id: people.id }))
      .length > 0
  );
}
