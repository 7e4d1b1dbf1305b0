import { Elysia, t } from "elysia";
import {
  endSessions,
  type ListedPerson,
  listPeople,
  PEOPLE_ORDERS,
  setOperator,
} from "../../../accounts/people/directory.ts";
import { endWay, listSignInWays, type SignInWays } from "../../../accounts/people/sign-in-ways.ts";
import { printTime } from "../../../domain/id-time.ts";
import { GatewayError } from "../../../errors.ts";
import { createGuard, type GuardParts } from "../guard.ts";
import { personShape } from "../session/shapes.ts";
import { id, listQuery, nothing, pageOf, time } from "../shapes.ts";

const listedPerson = t.Composite([
  personShape,
  t.Object({
    created_at: time,
    last_seen_at: t.Nullable(time),
    accounts: t.Integer(),
    sessions: t.Integer(),
  }),
]);
const personWays = t.Object({
  password: t.Boolean(),
  second_factor: t.Boolean(),
  identities: t.Array(
    t.Object({ id, provider: t.String(), email: t.Nullable(t.String()), last_used_at: time }),
  ),
  passkeys: t.Array(t.Object({ id: t.String(), name: t.String(), last_used_at: t.Nullable(time) })),
});
const peopleQuery = listQuery(...PEOPLE_ORDERS);
const path = t.Object({ person: id });
const keysTo = t.Optional(
  t.String({ maxLength: 128, description: "Id of the operator who takes over keys that would be revoked" }),
);
const PAGE_SIZE = 50;

/** People of the platform, for operators. */
export function operatorPeopleRoutes(parts: GuardParts) {
  return new Elysia()
    .use(createGuard(parts, "Operators"))
    .get("/operator/people", ({ query }) => list(parts, query), {
      summary: "List all people",
      needsOperator: true,
      query: peopleQuery,
      response: pageOf(listedPerson),
    })
    .post(
      "/operator/people/:person/operator",
      async ({ params, body, actor }) => {
        const { is_operator: isOperator, keys_to: keysTo } = body;
        const change = { personId: params.person, isOperator, keysTo };
        return printPerson(await setOperator(parts, actor, change));
      },
      {
        summary: "Give or take the rights of an operator",
        needsOperator: true,
        confirmed: true,
        params: path,
        body: t.Object({ is_operator: t.Boolean(), keys_to: keysTo }),
        response: listedPerson,
      },
    )
    .post(
      "/operator/people/:person/end-sessions",
      async ({ params, actor }) => ({ ended: await endSessions(parts, actor, params.person) }),
      {
        summary: "End all sessions of a person",
        needsOperator: true,
        confirmed: true,
        params: path,
        response: t.Object({ ended: t.Integer() }),
      },
    )
    .use(waysRoutes(parts));
}

/** How people sign in: operators see it, and take away what is lost. They add no way, and learn no secret. */
function waysRoutes({ database, now, ...parts }: GuardParts) {
  return new Elysia()
    .use(createGuard({ database, now, ...parts }, "Operators"))
    .get(
      "/operator/people/:person/sign-in-ways",
      async ({ params }) => printWays(await listSignInWays(database, params.person)),
      {
        summary: "List how a person may sign in",
        needsOperator: true,
        params: path,
        response: personWays,
      },
    )
    .delete(
      "/operator/people/:person/sign-in-ways/:way",
      async ({ params, actor }) => {
        // An operator could otherwise drop the factor that the file requires of it: its profile refuses that.
        if (params.person === actor.id) throw new GatewayError("not_permitted");
        await endWay(database, { actor, personId: params.person, way: params.way }, now());
        return {};
      },
      {
        summary: "Take a way to sign in from a person, also the last one, and end its sessions",
        needsOperator: true,
        confirmed: true,
        params: t.Object({ person: id, way: t.String({ minLength: 1, maxLength: 1_400 }) }),
        response: nothing,
      },
    );
}

function printWays({ hasPassword, recoveryCodes, identities, passkeys }: SignInWays) {
  return {
    password: hasPassword,
    second_factor: recoveryCodes !== undefined,
    identities: identities.map(({ id, provider, email, lastUsedAtMs }) => {
      return { id, provider, email, last_used_at: printTime(lastUsedAtMs) };
    }),
    passkeys: passkeys.map(({ id, name, lastUsedAtMs }) => {
      return { id, name, last_used_at: printTime(lastUsedAtMs) };
    }),
  };
}

async function list({ database }: GuardParts, query: typeof peopleQuery.static) {
  const { page: token, size = PAGE_SIZE, q: text, sort } = query;
  const { items, next } = await listPeople(database, { text, sort, token, size });
  return { items: items.map(printPerson), next };
}

function printPerson(person: ListedPerson) {
  return {
    id: person.id,
    name: person.name,
    email: person.email,
    email_verified: person.emailVerified,
    is_operator: person.isOperator,
    created_at: printTime(person.createdAtMs),
    last_seen_at: printTime(person.lastSeenAtMs),
    accounts: person.accounts,
    sessions: person.sessions,
  };
}
