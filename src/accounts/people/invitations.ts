import { and, desc, eq, gt, inArray, isNull, or } from "drizzle-orm";
import type { Database, DatabaseParts, Db } from "../../db/database.ts";
import { DAY_MS, firstIdOf } from "../../domain/id-time.ts";
import { GatewayError } from "../../errors.ts";
import { lockAccount } from "../accounts.ts";
import { type AuditActor, type Role, recordChange } from "../audit-trail.ts";
import { createToken } from "../keys/key.ts";
import type { MailOrders } from "./credentials.ts";
import { handedDigestOf, type Invitation } from "./invitation-links.ts";
import { normaliseEmail } from "./people.ts";
import { requireGiver, requirePresentRight } from "./present-rights.ts";

const VALID_MS = 7 * DAY_MS;
/** Invitations per day of all accounts with a common owner: they are mailed to strangers. */
const INVITATIONS_PER_DAY = 50;
const THROTTLED_S = 60;

export type InvitationState = "open" | "accepted" | "revoked" | "expired";

export function stateOf(invitation: Invitation, nowMs: number): InvitationState {
  if (invitation.acceptedAtMs !== null) return "accepted";
  if (invitation.revokedAtMs !== null) return "revoked";
  return nowMs < invitation.expiresAtMs ? "open" : "expired";
}

export interface NewInvitation {
  readonly accountId: string;
  readonly email: string;
  readonly role: Role;
  /** Whether the inviter gets the token instead of a mail, because none can be sent. */
  readonly isHandedOut?: boolean;
}

/** An invitation with its token, where that was handed to the inviter. */
export interface IssuedInvitation {
  readonly invitation: Invitation;
  readonly token: string | undefined;
}

/**
 * Invites an address for 7 days, and orders the mail with the link in the same transaction, or returns the token.
 * Revokes earlier open invitations of the address. Rejects with `wrong_shape` for a text that is no address,
 * `conflict` for a member, `not_permitted` for a mail while no owner has confirmed an address and for an operator who
 * acts inside an account with an owner, and `rate_limited` above 50 invitations a day of all accounts of the owners.
 */
export async function invite(
  { database, mails, now }: DatabaseParts & { readonly mails: MailOrders },
  actor: AuditActor,
  { accountId, email: text, role, isHandedOut = false }: NewInvitation,
): Promise<IssuedInvitation> {
  const email = normaliseEmail(text);
  const { tables, transact } = database;
  return transact(async (tx) => {
    const nowMs = now();
    await requirePresentRight(database, tx, actor, { accountId, roles: ["owner"] });
    const account = await lockAccount(database, tx, accountId);
    await requireGiver(database, tx, actor, accountId);
    await requireInvitable(database, tx, { accountId, email, isHandedOut, nowMs });
    const isOpen = openOf(database, accountId, email);
    await tx.update(tables.invitations).set({ revokedAtMs: nowMs }).where(isOpen);
    const times = { createdAtMs: nowMs, expiresAtMs: nowMs + VALID_MS };
    const id = Bun.randomUUIDv7("hex", nowMs);
    const token = isHandedOut ? createToken() : undefined;
    const digest = token === undefined ? null : handedDigestOf(token);
    const values = { id, accountId, email, role, digest, invitedBy: actor.name, ...times };
    const [invitation] = await tx.insert(tables.invitations).values(values).returning();
    if (!invitation) throw new Error("The insert returned no row");
    const data = { invitation_id: id, account_name: account?.name, role };
    if (!isHandedOut) await mails.enqueue(tx, { template: "invitation", address: email, data });
    const change = { accountId, action: "invitation.created", target: id, after: { email, role } };
    await recordChange(database, tx, actor, change, nowMs);
    return { invitation, token };
  });
}

/**
 * Sends an invitation again that is open or has expired: a new one of the same address and role replaces it.
 * Rejects like {@link invite}, and with `unknown_item` for any other.
 */
export async function inviteAgain(
  parts: DatabaseParts & { readonly mails: MailOrders },
  actor: AuditActor,
  { accountId, id, isHandedOut = false }: RepeatedInvitation,
): Promise<IssuedInvitation> {
  const { db, tables } = parts.database;
  const { invitations } = tables;
  const isWanted = and(openOf(parts.database, accountId), eq(invitations.id, id));
  const [earlier] = await db.select().from(invitations).where(isWanted);
  if (!earlier) throw new GatewayError("unknown_item");
  return invite(parts, actor, { accountId, email: earlier.email, role: earlier.role, isHandedOut });
}

interface RepeatedInvitation extends Pick<NewInvitation, "accountId" | "isHandedOut"> {
  readonly id: string;
}

interface Invited {
  readonly accountId: string;
  readonly email: string;
  readonly isHandedOut: boolean;
  readonly nowMs: number;
}

async function requireInvitable(
  database: Database,
  tx: Db,
  { accountId, email, isHandedOut, nowMs }: Invited,
) {
  const { invitations, members, people } = database.tables;
  const [member] = await tx
    .select({ id: people.id })
    .from(members)
    .innerJoin(people, eq(people.id, members.personId))
    .where(and(eq(members.accountId, accountId), eq(people.email, email)));
  if (member) throw new GatewayError("conflict", { message: "This person is a member already." });
  const owners = await findOwners(database, tx, accountId);
  // A link that is handed out reaches no stranger by itself.
  if (!isHandedOut) requireConfirmed(owners);
  const owned = tx
    .select({ id: members.accountId })
    .from(members)
    .where(
      and(
        eq(members.role, "owner"),
        inArray(
          members.personId,
          owners.map(({ id }) => id),
        ),
      ),
    );
  const ofOwners = or(eq(invitations.accountId, accountId), inArray(invitations.accountId, owned));
  const recent = await tx
    .select({ id: invitations.id })
    .from(invitations)
    .where(and(gt(invitations.id, firstIdOf(nowMs - DAY_MS)), ofOwners))
    .limit(INVITATIONS_PER_DAY);
  if (recent.length < INVITATIONS_PER_DAY) return;
  throw new GatewayError("rate_limited", { retryAfterS: THROTTLED_S });
}

async function findOwners({ tables: { members, people } }: Database, tx: Db, accountId: string) {
  const { id, emailVerified, isOperator } = people;
  return tx
    .select({ id, emailVerified, isOperator })
    .from(members)
    .innerJoin(people, eq(people.id, members.personId))
    .where(and(eq(members.accountId, accountId), eq(members.role, "owner")));
}

/** Throws `not_permitted` while no owner has confirmed an address. */
function requireConfirmed(owners: Awaited<ReturnType<typeof findOwners>>): void {
  // An account without owners is run by operators.
  if (owners.length === 0) return;
  if (owners.some(({ emailVerified, isOperator }) => emailVerified || isOperator)) return;
  throw new GatewayError("not_permitted", {
    message: "Confirm your e-mail address before you invite others.",
  });
}

/** Lists the invitations of an account, newest first, at most 500. */
export async function listInvitations(
  { db, tables: { invitations } }: Database,
  accountId: string,
): Promise<readonly Invitation[]> {
  return db
    .select()
    .from(invitations)
    .where(eq(invitations.accountId, accountId))
    .orderBy(desc(invitations.createdAtMs), desc(invitations.id))
    .limit(500);
}

/** Revokes an open invitation; its link ends at once. Rejects with `unknown_item` when it is not open. */
export async function revokeInvitation(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Promise<void> {
  const { invitations } = database.tables;
  await database.transact(async (tx) => {
    const nowMs = now();
    const isOpen = and(openOf(database, accountId), eq(invitations.id, id));
    const [revoked] = await tx.update(invitations).set({ revokedAtMs: nowMs }).where(isOpen).returning();
    if (!revoked) throw new GatewayError("unknown_item");
    const { email, role } = revoked;
    const change = { accountId, action: "invitation.revoked", target: id, before: { email, role } };
    await recordChange(database, tx, actor, change, nowMs);
  });
}

function openOf({ tables: { invitations } }: Database, accountId: string, email?: string) {
  return and(
    eq(invitations.accountId, accountId),
    email === undefined ? undefined : eq(invitations.email, email),
    isNull(invitations.acceptedAtMs),
    isNull(invitations.revokedAtMs),
  );
}
