import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import { email, id, listOf, nothing, role, time } from "./account-shapes.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";

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
  state: t.Union([t.Literal("open"), t.Literal("accepted"), t.Literal("revoked"), t.Literal("expired")]),
});
const offer = t.Object({ account_name: t.String(), email: t.String(), role, has_person: t.Boolean() });
const memberPath = t.Object({ account: id, person: id });
const invitationPath = t.Object({ account: id, invitation: id });
const tokenPath = t.Object({ token: t.String({ minLength: 1, maxLength: 200 }) });

/** Members of an account, and invitations into it. */
export function teamRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get("/accounts/:account/members", notBuilt, { needs: "members.read", response: listOf(member) })
    .patch("/accounts/:account/members/:person", notBuilt, {
      needs: "members.write",
      params: memberPath,
      body: t.Object({ role }),
      response: member,
    })
    .delete("/accounts/:account/members/:person", notBuilt, {
      needs: "members.write",
      params: memberPath,
      response: nothing,
    })
    .post("/accounts/:account/leave", notBuilt, { needs: "members.read", response: nothing })
    .get("/accounts/:account/invitations", notBuilt, { needs: "members.read", response: listOf(invitation) })
    .post("/accounts/:account/invitations", notBuilt, {
      needs: "members.write",
      body: t.Object({ email, role }),
      response: invitation,
    })
    .delete("/accounts/:account/invitations/:invitation", notBuilt, {
      needs: "members.write",
      params: invitationPath,
      response: nothing,
    })
    .get("/invitations/:token", notBuilt, { isPublic: true, params: tokenPath, response: offer })
    .post("/invitations/:token/accept", notBuilt, {
      needsSession: true,
      params: tokenPath,
      response: t.Object({ account_id: id }),
    });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
