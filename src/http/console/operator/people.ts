import { Elysia, t } from "elysia";
import {
  endSessions,
  type ListedPerson,
  listPeople,
  listPeopleByName,
  setOperator,
} from "../../../accounts/people/directory.ts";
import { readListOrder } from "../../../accounts/ranked-page.ts";
import { printTime } from "../../../domain/id-time.ts";
import { createGuard, type GuardParts } from "../guard.ts";
import { id, pageOf, pageQuery, sortOf, time } from "../shapes.ts";

const listedPerson = t.Object({
  id,
  name: t.String(),
  email: t.String(),
  email_verified: t.Boolean(),
  is_operator: t.Boolean(),
  created_at: time,
  last_seen_at: t.Nullable(time),
  accounts: t.Integer(),
  sessions: t.Integer(),
});
const query = t.Composite([
  pageQuery,
  t.Object({ q: t.Optional(t.String({ maxLength: 254 })), sort: sortOf("name") }),
]);
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
      query,
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
        params: path,
        response: t.Object({ ended: t.Integer() }),
      },
    );
}

/** A page's token is the id of its last person. */
async function list({ database }: GuardParts, { page, size = PAGE_SIZE, q, sort }: typeof query.static) {
  const order = readListOrder(sort, ["name"]);
  if (order) {
    const wanted = { text: q, isDescending: order.isDescending, token: page, size };
    const { items, next } = await listPeopleByName(database, wanted);
    return { items: items.map(printPerson), next };
  }
  const people = await listPeople(database, { text: q, after: page, size: size + 1 });
  const items = people.slice(0, size);
  return { items: items.map(printPerson), next: people.length > size ? (items.at(-1)?.id ?? null) : null };
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
