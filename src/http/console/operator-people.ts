import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import { id, pageOf, pageQuery, time } from "./account-shapes.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";

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
const path = t.Object({ person: id });

/** People of the platform, for operators. */
export function operatorPeopleRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get("/operator/people", notBuilt, {
      needsOperator: true,
      query: t.Composite([pageQuery, t.Object({ q: t.Optional(t.String({ maxLength: 254 })) })]),
      response: pageOf(listedPerson),
    })
    .post("/operator/people/:person/operator", notBuilt, {
      needsOperator: true,
      params: path,
      body: t.Object({ is_operator: t.Boolean() }),
      response: listedPerson,
    })
    .post("/operator/people/:person/end-sessions", notBuilt, {
      needsOperator: true,
      params: path,
      response: t.Object({ ended: t.Integer() }),
    });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
