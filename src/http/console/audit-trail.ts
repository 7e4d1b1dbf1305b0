import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import { auditEntry, id, pageOf, pageQuery } from "./account-shapes.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";

const filterQuery = t.Object({
  actor: t.Optional(t.String({ maxLength: 254, description: "Name or id of the author" })),
  action: t.Optional(t.String({ maxLength: 100 })),
  from: t.Optional(t.String({ format: "date-time" })),
  to: t.Optional(t.String({ format: "date-time" })),
});

/** The audit trail of one account, and for operators that of all. */
export function auditTrailRoutes(parts: ConsoleParts) {
  const query = t.Composite([filterQuery, pageQuery]);
  return new Elysia()
    .use(createGuard(parts))
    .get("/accounts/:account/audit-trail", notBuilt, {
      needs: "audit.read",
      params: t.Object({ account: id }),
      query,
      response: pageOf(auditEntry),
    })
    .get("/accounts/:account/audit-trail.csv", notBuilt, {
      needs: "audit.read",
      params: t.Object({ account: id }),
      query: filterQuery,
    })
    .get("/operator/audit-trail", notBuilt, { needsOperator: true, query, response: pageOf(auditEntry) });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
