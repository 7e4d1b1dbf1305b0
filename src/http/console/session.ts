import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { id, nothing, roleName, time } from "./shapes.ts";

const email = t.String({ minLength: 3, maxLength: 254 });
/** A password as it is sent: its length in characters is checked after normalisation. */
const password = t.String({ minLength: 1, maxLength: 1024 });
const token = t.String({ minLength: 1, maxLength: 2048 });
const name = t.String({ minLength: 1, maxLength: 100 });

const person = t.Object({
  id,
  name: t.String(),
  email: t.String(),
  email_verified: t.Boolean(),
  is_operator: t.Boolean(),
});
const acting = t.Object({ account_id: id, account_name: t.String(), until: time });
const me = t.Object({
  person,
  must_change_password: t.Boolean(),
  confirmed: t.Boolean(),
  accounts: t.Array(
    t.Object({
      id,
      name: t.String(),
      state: t.Union([t.Literal("active"), t.Literal("suspended")]),
      role: roleName,
    }),
  ),
  acting: t.Nullable(acting),
});
const session = t.Object({
  id,
  address: t.Nullable(t.String()),
  agent: t.Nullable(t.String()),
  created_at: time,
  last_seen_at: time,
  expires_at: time,
  current: t.Boolean(),
});
const setup = t.Object({
  sign_up: t.Union([t.Literal("open"), t.Literal("invited"), t.Literal("closed")]),
  has_mail: t.Boolean(),
  has_payments: t.Boolean(),
  public_url: t.String(),
  version: t.String(),
  demo_only: t.Boolean(),
});

/** Routes of people: sign-in, their own sessions, password and e-mail. */
export function sessionRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get("/setup", notBuilt, { isPublic: true, response: setup })
    .post("/sign-in", notBuilt, {
      isPublic: true,
      body: t.Object({ email, password }),
      response: t.Object({ person, must_change_password: t.Boolean() }),
    })
    .post("/sign-up", notBuilt, {
      isPublic: true,
      body: t.Object({
        name,
        email,
        password,
        account_name: t.Optional(name),
        invitation: t.Optional(token),
      }),
      response: t.Object({ person }),
    })
    .post("/sign-out", notBuilt, { isPublic: true, response: nothing })
    .post("/password/forgot", notBuilt, { isPublic: true, body: t.Object({ email }), response: nothing })
    .post("/password/reset", notBuilt, {
      isPublic: true,
      body: t.Object({ token, password }),
      response: nothing,
    })
    .post("/email/verify", notBuilt, { isPublic: true, body: t.Object({ token }), response: nothing })
    .get("/me", notBuilt, { needsSession: true, response: me })
    .patch("/me", notBuilt, { needsSession: true, body: t.Object({ name }), response: person })
    .post("/me/password", notBuilt, {
      needsSession: true,
      body: t.Object({ current: password, password }),
      response: nothing,
    })
    .post("/me/confirm", notBuilt, { needsSession: true, body: t.Object({ password }), response: nothing })
    .post("/me/email-verification", notBuilt, { needsSession: true, response: nothing })
    .get("/me/sessions", notBuilt, {
      needsSession: true,
      response: t.Object({ items: t.Array(session) }),
    })
    .delete("/me/sessions/:session", notBuilt, {
      needsSession: true,
      params: t.Object({ session: id }),
      response: nothing,
    })
    .post("/me/sessions/end-others", notBuilt, {
      needsSession: true,
      response: t.Object({ ended: t.Integer() }),
    });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
