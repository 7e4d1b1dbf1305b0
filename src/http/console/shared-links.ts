import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { id, nothing, time, usd } from "./shapes.ts";

/** Without a key, the link shows the whole account. `key_name` is null for a deleted key. */
const link = t.Object({
  id,
  key: t.Nullable(t.Object({ id, name: t.String() })),
  shows_names: t.Boolean(),
  created_by: t.String(),
  created_at: time,
  expires_at: time,
  revoked_at: t.Nullable(time),
  state: t.Union([t.Literal("active"), t.Literal("expired"), t.Literal("revoked")]),
});

const sums = {
  requests: t.Integer(),
  cost_usd: usd,
  input_tokens: t.Integer(),
  cached_input_tokens: t.Integer(),
  cache_write_tokens: t.Integer(),
  output_tokens: t.Integer(),
};

/** Usage by UTC day. Names are null unless the link shows them. */
const sharedUsage = t.Object({
  account_name: t.Nullable(t.String()),
  key_name: t.Nullable(t.String()),
  from: time,
  to: time,
  expires_at: time,
  usage: t.Object({
    rows: t.Array(t.Object({ time, ...sums })),
    total: t.Object(sums),
    models: t.Array(t.Object({ model: t.String(), ...sums })),
  }),
  spending_limit: t.Nullable(
    t.Object({
      amount_usd: usd,
      period: t.String(),
      used_usd: usd,
      remaining_usd: usd,
      resets_at: t.Nullable(time),
    }),
  ),
});

/** Routes of shared links: read-only views of usage, for people without a session. */
export function sharedLinksRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get("/accounts/:account/links", notBuilt, {
      needs: "links.read",
      response: t.Object({ items: t.Array(link) }),
    })
    .post("/accounts/:account/links", notBuilt, {
      needs: "links.write",
      body: t.Object({ key: t.Optional(id), shows_names: t.Boolean(), expires_at: time }),
      response: t.Object({ link, url: t.String() }),
    })
    .delete("/accounts/:account/links/:link", notBuilt, {
      needs: "links.write",
      params: t.Object({ account: id, link: id }),
      response: nothing,
    })
    .get("/shared/:token", notBuilt, {
      isPublic: true,
      params: t.Object({ token: t.String({ maxLength: 100 }) }),
      response: sharedUsage,
    });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
