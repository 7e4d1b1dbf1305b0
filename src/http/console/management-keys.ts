import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import { id, listOf, managementKey, name, nothing, role } from "./account-shapes.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";

const issued = t.Object({
  key: managementKey,
  secret: t.String({ description: "mk-tg- and 43 characters; shown only here" }),
});
const expiresAt = t.Optional(t.Nullable(t.String({ format: "date-time" })));

/** Management keys of an account, and those of the platform for operators. */
export function managementKeysRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get("/accounts/:account/management-keys", notBuilt, {
      needs: "management_keys.read",
      params: t.Object({ account: id }),
      response: listOf(managementKey),
    })
    .post("/accounts/:account/management-keys", notBuilt, {
      needs: "management_keys.write",
      params: t.Object({ account: id }),
      body: t.Object({ name, role, expires_at: expiresAt }),
      response: issued,
    })
    .delete("/accounts/:account/management-keys/:key", notBuilt, {
      needs: "management_keys.write",
      params: t.Object({ account: id, key: id }),
      response: nothing,
    })
    .get("/operator/management-keys", notBuilt, { needsOperator: true, response: listOf(managementKey) })
    .post("/operator/management-keys", notBuilt, {
      needsOperator: true,
      body: t.Object({ name, expires_at: expiresAt }),
      response: issued,
    })
    .delete("/operator/management-keys/:key", notBuilt, {
      needsOperator: true,
      params: t.Object({ key: id }),
      response: nothing,
    });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
