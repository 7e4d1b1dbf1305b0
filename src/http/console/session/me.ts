import { Elysia, t } from "elysia";
import { findAccount } from "../../../accounts/accounts.ts";
import type { Actor, SessionState } from "../../../accounts/audit-trail.ts";
import {
  changePassword,
  confirmPassword,
  orderEmailVerification,
} from "../../../accounts/people/credentials.ts";
import {
  findPersonById,
  listMemberships,
  type Person,
  renamePerson,
} from "../../../accounts/people/people.ts";
import { cookieFormOf, printCookie, readSessionCookie } from "../../../accounts/people/session-cookie.ts";
import {
  endSession,
  endSessions,
  listSessions,
  needsRenewal,
  renewSession,
  type Session,
} from "../../../accounts/people/sessions.ts";
import { printTime } from "../../../domain/id-time.ts";
import { GatewayError } from "../../../errors.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard, isConfirmed } from "../guard.ts";
import { visitorOf } from "../request-context.ts";
import { id, listOf, nothing } from "../shapes.ts";
import {
  codeField,
  meShape,
  nameField,
  passwordField,
  personShape,
  printPerson,
  sessionShape,
} from "./shapes.ts";

type Parts = PartsOf<"settings" | "credentials">;

/** Routes of a signed-in person about itself. Management keys are no person: they get `not_permitted`. */
export function meRoutes(parts: Parts) {
  const { credentials, database, now } = parts;
  return new Elysia()
    .use(createGuard(parts, "Me"))
    .get(
      "/me",
      async ({ request, actor, set }) => {
        const cookie = await renew(parts, request, actor);
        if (cookie) set.headers["set-cookie"] = cookie;
        return printMe(parts, actor);
      },
      {
        summary: "Read the signed-in person, its accounts and rights",
        needsPassword: true,
        response: meShape,
      },
    )
    .patch(
      "/me",
      async ({ actor, body }) => {
        const person = await requirePerson(parts, actor);
        return printPerson(await renamePerson(database, { actor, person, name: body.name }, now()));
      },
      {
        summary: "Change the name or the e-mail address",
        needsSession: true,
        body: t.Object({ name: nameField }),
        response: personShape,
      },
    )
    .post(
      "/me/password",
      async ({ request, actor, body, set }) => {
        await requirePerson(parts, actor);
        const { cookies } = await changePassword(credentials, visitorOf(request), { actor, ...body });
        set.headers["set-cookie"] = [...cookies];
        return {};
      },
      {
        summary: "Change the password",
        needsPassword: true,
        body: t.Object({ current: passwordField, password: passwordField }),
        response: nothing,
      },
    )
    .post(
      "/me/confirm",
      async ({ request, actor, body }) => {
        await confirmPassword(credentials, visitorOf(request), { actor, ...body });
        return {};
      },
      {
        summary: "Give the password again, for steps that ask for a fresh one",
        needsPassword: true,
        body: t.Object({ password: passwordField, code: t.Optional(codeField) }),
        response: nothing,
      },
    )
    .post(
      "/me/email-verification",
      async ({ request, actor }) => {
        requireSession(actor);
        await orderEmailVerification(credentials, visitorOf(request), actor);
        return {};
      },
      { summary: "Mail the link that confirms the address again", needsSession: true, response: nothing },
    );
}

/** Prints who is signed in, with which accounts; also the answer when an operator begins to act. */
async function printMe({ database, now }: Parts, actor: Actor) {
  const person = await findPersonById(database, actor.id);
  if (!person) throw new GatewayError("not_permitted");
  const [memberships, acting] = await Promise.all([
    listMemberships(database, actor),
    printActing(database, actor),
  ]);
  return {
    person: { ...printPerson(person), is_operator: actor.isOperator },
    must_change_password: person.mustChangePassword,
    must_set_up_second_factor: actor.session?.mustSetUpFactor ?? false,
    confirmed: isConfirmed(actor, now()),
    accounts: memberships.map(({ accountId, name, state, role }) => ({ id: accountId, name, state, role })),
    acting,
  };
}

/** The account inside which an operator acts, or null. */
async function printActing(database: Parts["database"], { acting }: Actor) {
  const account = acting && (await findAccount(database, acting.accountId));
  if (!account) return null;
  const until = printTime(acting.untilMs);
  return { account_id: account.id, account_name: account.name, account_state: account.state, until };
}

/** Renews a session once a day, and returns the cookie with the new expiry. */
async function renew(parts: Parts, request: Request, actor: Actor): Promise<string | undefined> {
  const { database, settings, now } = parts;
  const nowMs = now();
  const sessions = await listSessions(database, actor.id, nowMs);
  const session = sessions.find(({ id }) => id === actor.session?.id);
  if (!session || !needsRenewal(session, nowMs)) return undefined;
  const form = cookieFormOf(settings.publicUrl);
  const sent = readSessionCookie(request.headers, form);
  if (!sent) return undefined;
  await renewSession(database, session.id, nowMs);
  return printCookie(sent.value, form);
}

/** Returns the session of an actor. Throws `not_permitted` for a management key. */
export function requireSession({ session }: Pick<Actor, "session">): SessionState {
  if (!session) throw new GatewayError("not_permitted");
  return session;
}

async function requirePerson({ database }: Parts, actor: Actor): Promise<Person> {
  requireSession(actor);
  const person = await findPersonById(database, actor.id);
  if (!person) throw new GatewayError("no_session");
  return person;
}

/** Routes of a signed-in person about its sessions. */
export function mySessionsRoutes(parts: Parts) {
  const { database, now } = parts;
  return new Elysia()
    .use(createGuard(parts, "Me"))
    .get(
      "/me/sessions",
      async ({ actor }) => {
        const { id: currentId } = requireSession(actor);
        const sessions = await listSessions(database, actor.id, now());
        return { items: sessions.map((session) => printSession(session, currentId)) };
      },
      {
        summary: "List the open sessions",
        needsSession: true,
        response: listOf(sessionShape),
      },
    )
    .delete(
      "/me/sessions/:session",
      async ({ actor, params }) => {
        requireSession(actor);
        const wanted = { actor, personId: actor.id, sessionId: params.session };
        if (!(await endSession(database, wanted, now()))) throw new GatewayError("unknown_item");
        return {};
      },
      { summary: "End a session", needsSession: true, params: t.Object({ session: id }), response: nothing },
    )
    .post(
      "/me/sessions/end-others",
      async ({ actor }) => {
        const { id: keptId } = requireSession(actor);
        return { ended: await endSessions(database, { actor, personId: actor.id, keptId }, now()) };
      },
      {
        summary: "End all sessions but this one",
        needsSession: true,
        response: t.Object({ ended: t.Integer() }),
      },
    );
}

function printSession(session: Session, currentId: string) {
  return {
    id: session.id,
    address: session.address ?? null,
    agent: session.agent ?? null,
    created_at: printTime(session.createdAtMs),
    last_seen_at: printTime(session.lastSeenAtMs),
    expires_at: printTime(session.expiresAtMs),
    current: session.id === currentId,
  };
}
