import { and, eq } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { Actor, Role } from "./actor.ts";

/**
 * Finds the role of an actor in an account. A management key of the platform is an owner everywhere, an
 * operator who acts inside the account is `acting`, and every other person has the role of its membership.
 */
export async function findRole(
  { db, tables: { members } }: Database,
  actor: Actor,
  { accountId, nowMs }: { readonly accountId: string; readonly nowMs: number },
): Promise<Role | "acting" | undefined> {
  if (actor.kind === "management_key") {
    if (actor.isOperator) return "owner";
    return actor.role?.accountId === accountId ? actor.role.role : undefined;
  }
  const isMember = and(eq(members.accountId, accountId), eq(members.personId, actor.id));
  const [member] = await db.select({ role: members.role }).from(members).where(isMember);
  if (member) return member.role;
  const { acting } = actor;
  return acting?.accountId === accountId && nowMs < acting.untilMs ? "acting" : undefined;
}
