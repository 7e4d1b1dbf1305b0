import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import { id, time, usd } from "./account-shapes.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";

const upstream = t.Object({
  name: t.String(),
  circuit: t.Union([t.Literal("closed"), t.Literal("open"), t.Literal("half_open")]),
  is_forced: t.Boolean({ description: "Whether an operator opened the circuit" }),
  opens_again_at: t.Nullable(t.String({ description: "When the next probe may start" })),
  in_flight: t.Integer(),
  failures: t.Integer({ description: "Consecutive failures" }),
  cooldown_until: t.Nullable(time),
  models: t.Array(t.String()),
});
const limiter = t.Object({
  mode: t.Union([t.Literal("shared"), t.Literal("local"), t.Literal("denying")]),
  backend: t.Union([t.Literal("redis"), t.Literal("memory")]),
});
const ledger = t.Object({
  mode: t.Union([t.Literal("local"), t.Literal("remote")]),
  open_holds: t.Nullable(t.Integer()),
  held_usd: t.Nullable(usd),
  oldest_hold_at: t.Nullable(time),
  roll_up_closed_to: t.Nullable(time),
  stale_hours: t.Nullable(t.Integer()),
  is_backfilling: t.Nullable(t.Boolean()),
});
const health = t.Object({
  upstreams: t.Array(upstream),
  limiter,
  ledger,
  outbox: t.Object({ entries: t.Integer(), oldest_at: t.Nullable(time) }),
  database: t.Union([t.Literal("sqlite"), t.Literal("postgres")]),
  version: t.String(),
  uptime_s: t.Integer(),
  memory_bytes: t.Integer(),
  gateways: t.Integer(),
});

/** The state of this gateway, its upstreams, limiter and ledger. Nothing secret. */
export function operatorHealthRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get("/operator/health", notBuilt, { needsOperator: true, response: health })
    .post("/operator/upstreams/:name/probe", notBuilt, {
      needsOperator: true,
      params: t.Object({ name: id }),
      response: upstream,
    })
    .post("/operator/upstreams/:name/circuit", notBuilt, {
      needsOperator: true,
      params: t.Object({ name: id }),
      body: t.Object({ state: t.Union([t.Literal("open"), t.Literal("closed")]) }),
      response: upstream,
    });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
