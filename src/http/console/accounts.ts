import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import { account, email, error, id, name } from "./account-shapes.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";

/** Accounts: made by operators, and by people while sign-up is open. */
export function accountsRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .post("/accounts", notBuilt, {
      needsSession: true,
      body: t.Object({ name, email: t.Optional(email) }),
      response: account,
    })
    .get("/accounts/:account", notBuilt, {
      needs: "account.read",
      params: t.Object({ account: id }),
      response: account,
    })
    .patch("/accounts/:account", notBuilt, {
      needs: "account.write",
      params: t.Object({ account: id }),
      body: t.Object({
        version: t.Integer(),
        name: t.Optional(name),
        email: t.Optional(t.Nullable(email)),
      }),
      response: { 200: account, 409: t.Object({ error, current: account }) },
    });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
