import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import {
  account,
  acting,
  id,
  nothing,
  pageOf,
  pageQuery,
  reason,
  time,
  usd,
  wallet,
} from "./account-shapes.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";

const listedAccount = t.Composite([
  account,
  t.Object({
    available_usd: usd,
    held_usd: usd,
    posted_usd: usd,
    spent_30d_usd: usd,
    requests_30d: t.Integer(),
    keys: t.Integer({ description: "Keys that are not revoked" }),
    last_request_at: t.Nullable(time),
  }),
]);
const path = t.Object({ id });
const topUpId = t.String({ minLength: 1, maxLength: 128, description: "Booked once, whatever is repeated" });

/** Accounts as operators see them: balances, usage, money, suspension, and sessions inside of them. */
export function operatorAccountsRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get("/operator/accounts", notBuilt, {
      needsOperator: true,
      query: t.Composite([pageQuery, t.Object({ q: t.Optional(t.String({ maxLength: 254 })) })]),
      response: pageOf(listedAccount),
    })
    .post("/operator/accounts/:id/suspend", notBuilt, {
      needsOperator: true,
      params: path,
      body: t.Object({ reason }),
      response: account,
    })
    .post("/operator/accounts/:id/resume", notBuilt, {
      needsOperator: true,
      params: path,
      body: t.Object({ reason }),
      response: account,
    })
    .post("/operator/accounts/:id/top-ups", notBuilt, {
      needsOperator: true,
      params: path,
      body: t.Object({ id: topUpId, amount_usd: usd, reason }),
      response: wallet,
    })
    .post("/operator/accounts/:id/refunds", notBuilt, {
      needsOperator: true,
      params: path,
      body: t.Object({ id: topUpId, receipt: id, amount_usd: t.Optional(usd), reason }),
      response: wallet,
    })
    .post("/operator/accounts/:id/act", notBuilt, {
      needsOperator: true,
      params: path,
      body: t.Object({ reason }),
      response: acting,
    })
    .delete("/operator/acting", notBuilt, { needsOperator: true, response: nothing });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
