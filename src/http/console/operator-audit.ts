import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import { nothing, time } from "./account-shapes.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";

const finding = t.Object({
  kind: t.String({ description: "Id of the invariant" }),
  severity: t.Union([t.Literal("error"), t.Literal("warning")]),
  wallet_id: t.String(),
  subject: t.Nullable(t.String({ description: "A hold, transfer or limit; null for the wallet" })),
  text: t.String(),
});
const result = t.Object({
  is_running: t.Boolean(),
  ran_at: t.Nullable(time),
  duration_ms: t.Nullable(t.Integer()),
  wallets: t.Integer(),
  holds: t.Integer(),
  transfers: t.Integer(),
  findings: t.Array(finding),
  checked: t.Array(
    t.Object({
      invariant: t.String(),
      text: t.String(),
      rows: t.Integer({ description: "Rows that violate it, at most 100" }),
      ok: t.Boolean(),
    }),
  ),
});

/** The audit of the ledger: its last result, and a new run in the background. */
export function operatorAuditRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get("/operator/audit", notBuilt, {
      needsOperator: true,
      response: result,
    })
    .post("/operator/audit", notBuilt, { needsOperator: true, response: { 202: nothing } });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
