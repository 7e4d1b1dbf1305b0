import { and, eq, gt, inArray, isNull } from "drizzle-orm";
import type { Database, Db, Tables } from "../../db/database.ts";
import { GatewayError } from "../../errors.ts";
import { type Account, findAccount } from "../accounts.ts";
import { type AuditActor, recordChange } from "../audit-trail.ts";
import { createToken, digestOf } from "../keys/key.ts";

export type Invitation = Tables["invitations"]["$inferSelect"];

const TOKEN = /^[\w-]{43}$/;

/**
 * Makes a new token for the mail of an invitation, and stores its digest; an earlier token ends. Returns
 * `undefined` when the invitation is no longer open: then there is nothing to send.
 */
export async function mintInvitationToken(
  database: Database,
  invitationId: string,
  nowMs: number,
): Promise<string | undefined> {
  const { invitations } = database.tables;
  const token = createToken();
  const minted = await database.transact((tx) =>
    tx
      .update(invitations)
      .set({ digest: digestOf(token) })
      .where(and(eq(invitations.id, invitationId), isOpenAt(database, nowMs)))
      .returning({ id: invitations.id }),
  );
  return minted.length > 0 ? token : undefined;
}

/** An invitation and its account, as found by the token of its link. */
export interface OpenInvitation {
  readonly invitation: Invitation;
  readonly account: Account;
}

/** Finds the open invitation of a token. Unknown, used, revoked and expired tokens are `undefined` alike. */
export async function findInvitation(
  database: Database,
  token: string,
  nowMs: number,
): Promise<OpenInvitation | undefined> {
  if (!TOKEN.test(token)) return undefined;
  const { db, tables } = database;
  const { invitations } = tables;
  const isMatch = and(inArray(invitations.digest, digestsOf(token)), isOpenAt(database, nowMs));
  const [invitation] = await db.select().from(invitations).where(isMatch);
  const account = invitation && (await findAccount(database, invitation.accountId));
  return invitation && account && { invitation, account };
}

/** The person who accepts, with the address as it is stored. */
export interface Invitee {
  readonly id: string;
  readonly email: string;
}

/**
 * Makes the invited person a member, once, in the transaction `tx`. A token that was mailed to the invited
 * address proves it; one that was handed to the inviter does not. A member keeps its role. Rejects with `unknown_item` for a token that is
 * not open, and with `not_permitted` for another address.
 */
export async function acceptInvitation(
  database: Database,
  tx: Db,
  { token, person, actor, nowMs }: Acceptance,
): Promise<{ readonly accountId: string }> {
  const { invitations, members, people } = database.tables;
  if (!TOKEN.test(token)) throw new GatewayError("unknown_item");
  const isMatch = and(inArray(invitations.digest, digestsOf(token)), isOpenAt(database, nowMs));
  const [accepted] = await tx.update(invitations).set({ acceptedAtMs: nowMs }).where(isMatch).returning();
  if (!accepted) throw new GatewayError("unknown_item");
  if (accepted.email !== person.email) {
    throw new GatewayError("not_permitted", { message: "This invitation is for another e-mail address." });
  }
  const { accountId, role } = accepted;
  await tx
    .insert(members)
    .values({ accountId, personId: person.id, role, createdAtMs: nowMs })
    .onConflictDoNothing();
  if (accepted.digest === digestOf(token)) {
    await tx.update(people).set({ emailVerified: true }).where(eq(people.id, person.id));
  }
  const after = { person: person.id, email: person.email, role };
  const change = { accountId, action: "invitation.accepted", target: accepted.id, after };
  await recordChange(database, tx, actor, change, nowMs);
  return { accountId };
}

export interface Acceptance {
  readonly token: string;
  readonly person: Invitee;
  readonly actor: AuditActor;
  readonly nowMs: number;
}

/** The digest of a token that the inviter has seen: another one, so that it never passes for a mailed token. */
export function handedDigestOf(token: string): string {
  return digestOf(`handed out ${token}`);
}

function digestsOf(token: string): readonly [mailed: string, handed: string] {
  return [digestOf(token), handedDigestOf(token)];
}

function isOpenAt({ tables: { invitations } }: Database, nowMs: number) {
  const isUnused = and(isNull(invitations.acceptedAtMs), isNull(invitations.revokedAtMs));
  return and(isUnused, gt(invitations.expiresAtMs, nowMs));
}
