import { Elysia, t } from "elysia";
import type { Actor } from "../../accounts/audit-trail.ts";
import { acceptInvitation, findInvitation, type Invitation } from "../../accounts/people/invitation-links.ts";
import {
  type IssuedInvitation,
  invite,
  inviteAgain,
  listInvitations,
  revokeInvitation,
  stateOf,
} from "../../accounts/people/invitations.ts";
import { changeRole, listMembers, type Member, removeMember } from "../../accounts/people/members.ts";
import { findPerson, findPersonById } from "../../accounts/people/people.ts";
import { printTime } from "../../domain/id-time.ts";
import { GatewayError } from "../../errors.ts";
import { email } from "./accounts/shapes.ts";
import type { PartsOf } from "./console-parts.ts";
import { type AccountAccess, createGuard } from "./guard.ts";
import { contextOf } from "./request-context.ts";
import { id, listOf, nothing, oneOf, roleName as role, time } from "./shapes.ts";

type Parts = PartsOf<"settings" | "mails" | "throttle">;

const member = t.Object({
  person_id: id,
  name: t.String(),
  email: t.String(),
  role,
  joined_at: time,
  last_seen_at: t.Nullable(time),
});
const invitation = t.Object({
  id,
  email: t.String(),
  role,
  invited_by: t.String(),
  created_at: time,
  expires_at: time,
  state: oneOf(["open", "accepted", "revoked", "expired"]),
});
/** `link` is given once, to an inviter who is no acting operator, where no mail can be sent. */
const issuedInvitation = t.Object({
  ...invitation.properties,
  link: t.Nullable(
    t.String({ description: "Given once, where no mail can be sent; null when the link is mailed" }),
  ),
});
const offer = t.Object({ account_name: t.String(), email: t.String(), role, has_person: t.Boolean() });
const keysTo = t.Optional(
  t.String({ maxLength: 128, description: "Id of the owner who takes over keys that would be revoked" }),
);
const accountPath = t.Object({ account: id });
const memberPath = t.Object({ account: id, person: id });
const invitationPath = t.Object({ account: id, invitation: id });
const tokenPath = t.Object({ token: t.String({ minLength: 1, maxLength: 200 }) });

/** Members of an account, and invitations into it. */
export function teamRoutes(parts: Parts) {
  return new Elysia().use(memberRoutes(parts)).use(invitationRoutes(parts)).use(linkRoutes(parts));
}

function memberRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Team"))
    .get("/accounts/:account/members", ({ params }) => printMembers(parts, params.account), {
      summary: "List the members",
      needs: "members.read",
      params: accountPath,
      response: listOf(member),
    })
    .patch(
      "/accounts/:account/members/:person",
      async ({ params, body, actor }) => {
        const { account: accountId, person: personId } = params;
        await changeRole(parts, actor, { accountId, personId, role: body.role, keysTo: body.keys_to });
        return printMember(await requireMember(parts, accountId, personId));
      },
      {
        summary: "Change the role of a member",
        needs: "members.write",
        confirmed: true,
        params: memberPath,
        body: t.Object({ role, keys_to: keysTo }),
        response: member,
      },
    )
    .delete(
      "/accounts/:account/members/:person",
      async ({ params, query, actor }) => {
        const { account: accountId, person: personId } = params;
        await removeMember(parts, actor, { accountId, personId, keysTo: query.keys_to });
        return {};
      },
      {
        summary: "Remove a member",
        needs: "members.write",
        params: memberPath,
        query: t.Object({ keys_to: keysTo }),
        response: nothing,
      },
    )
    .post(
      "/accounts/:account/leave",
      async ({ params, actor }) => {
        await removeMember(parts, actor, { accountId: params.account, personId: actor.id });
        return {};
      },
      { summary: "Leave the account", needs: "members.read", params: accountPath, response: nothing },
    );
}

function invitationRoutes(parts: Parts) {
  const print = (each: Invitation) => printInvitation(each, parts.now());
  // The link outlives the 30 minutes of an acting operator, who gets no secret.
  const isHandedOut = (own: AccountAccess["role"]) => !parts.settings.mail && own !== "acting";
  const printIssued = ({ invitation: made, token }: IssuedInvitation) => ({
    ...print(made),
    link: token === undefined ? null : `${parts.settings.publicUrl}/console/accept?token=${token}`,
  });
  return new Elysia()
    .use(createGuard(parts, "Team"))
    .get(
      "/accounts/:account/invitations",
      async ({ params }) => ({
        items: (await listInvitations(parts.database, params.account)).map(print),
      }),
      {
        summary: "List invitations of every state, newest first",
        needs: "members.read",
        params: accountPath,
        response: listOf(invitation),
      },
    )
    .post(
      "/accounts/:account/invitations",
      async ({ account, role: own, body, actor }) => {
        const handing = { isHandedOut: isHandedOut(own) };
        return printIssued(await invite(parts, actor, { accountId: account.id, ...body, ...handing }));
      },
      {
        summary: "Invite a person by e-mail",
        needs: "members.write",
        confirmed: true,
        params: accountPath,
        body: t.Object({ email, role }),
        response: issuedInvitation,
      },
    )
    .post(
      "/accounts/:account/invitations/:invitation/resend",
      async ({ account, role: own, params, actor }) => {
        const handing = { isHandedOut: isHandedOut(own) };
        const repeated = { accountId: account.id, id: params.invitation, ...handing };
        return printIssued(await inviteAgain(parts, actor, repeated));
      },
      {
        summary: "Send an invitation again, with a new link",
        needs: "members.write",
        confirmed: true,
        params: invitationPath,
        response: issuedInvitation,
      },
    )
    .delete(
      "/accounts/:account/invitations/:invitation",
      async ({ params, actor }) => {
        await revokeInvitation(parts, actor, { accountId: params.account, id: params.invitation });
        return {};
      },
      { summary: "Revoke an invitation", needs: "members.write", params: invitationPath, response: nothing },
    );
}

/** The link of an invitation: what it offers, and its acceptance by the invited address. */
function linkRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Team"))
    .get(
      "/invitations/:token",
      ({ params, request }) => {
        const { address } = contextOf(request);
        return parts.throttle("link", { address }, () => printOffer(parts, params.token));
      },
      {
        summary: "Read an invitation by the token of its mail",
        isPublic: true,
        params: tokenPath,
        response: offer,
      },
    )
    .post("/invitations/:token/accept", ({ params, actor }) => accept(parts, actor, params.token), {
      summary: "Accept an invitation",
      needsSession: true,
      params: tokenPath,
      response: t.Object({ account_id: id }),
    });
}

async function printMembers({ database }: Parts, accountId: string) {
  return { items: (await listMembers(database, accountId)).map(printMember) };
}

async function requireMember({ database }: Parts, accountId: string, personId: string) {
  const found = (await listMembers(database, accountId)).find((each) => each.personId === personId);
  if (!found) throw new GatewayError("unknown_item");
  return found;
}

async function printOffer({ database, now }: Parts, token: string) {
  const found = await findInvitation(database, token, now());
  if (!found) throw new GatewayError("unknown_item");
  const { account, invitation: offered } = found;
  const person = await findPerson(database, offered.email);
  const { email: address, role: offeredRole } = offered;
  return { account_name: account.name, email: address, role: offeredRole, has_person: person !== undefined };
}

async function accept({ database, now }: Parts, actor: Actor, token: string) {
  if (actor.session?.mustChangePassword) throw new GatewayError("not_permitted");
  const person = actor.kind === "person" ? await findPersonById(database, actor.id) : undefined;
  if (!person) throw new GatewayError("not_permitted");
  const nowMs = now();
  const { accountId } = await database.transact((tx) =>
    acceptInvitation(database, tx, { token, person, actor, nowMs }),
  );
  return { account_id: accountId };
}

function printMember({ personId, lastSeenAtMs, joinedAtMs, ...rest }: Member) {
  return {
    person_id: personId,
    ...rest,
    joined_at: printTime(joinedAtMs),
    last_seen_at: printTime(lastSeenAtMs),
  };
}

function printInvitation(each: Invitation, nowMs: number) {
  return {
    id: each.id,
    email: each.email,
    role: each.role,
    invited_by: each.invitedBy,
    created_at: printTime(each.createdAtMs),
    expires_at: printTime(each.expiresAtMs),
    state: stateOf(each, nowMs),
  };
}
