import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { accountParams } from "./key-shapes.ts";
import { usd } from "./shapes.ts";

const price = t.String({ description: "USD per million tokens" });
const count = t.Integer({ minimum: 0 });
const tokens = t.Integer({ minimum: 0, maximum: 1_000_000_000 });

const model = t.Object({
  id: t.String(),
  context_window: count,
  max_output_tokens: count,
  default_max_output_tokens: count,
  price: t.Object({
    input: price,
    output: price,
    cached_input: price,
    cache_write: price,
    cache_write_1h: price,
  }),
  surfaces: t.Array(t.String()),
  routes: t.Nullable(t.Array(t.Object({ upstream: t.String(), model: t.String() }))),
  is_demo: t.Boolean(),
});

const estimateBody = t.Object({
  model: t.String({ minLength: 1, maxLength: 256 }),
  input_tokens: t.Optional(tokens),
  text: t.Optional(t.String({ maxLength: 500_000 })),
  output_tokens: t.Optional(tokens),
});

const estimate = t.Object({
  cost_usd: usd,
  hold_usd: usd,
  lines: t.Array(
    t.Object({
      class: t.Union([t.Literal("input"), t.Literal("output")]),
      tokens: count,
      price,
      amount_usd: usd,
    }),
  ),
  rounding_usd: usd,
});

/** The models of the catalog, and what a request would cost. */
export function modelsRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get("/accounts/:account/models", notBuilt, {
      needs: "models.read",
      params: accountParams,
      response: t.Object({ items: t.Array(model) }),
    })
    .post("/accounts/:account/models/estimate", notBuilt, {
      needs: "models.read",
      params: accountParams,
      body: estimateBody,
      response: estimate,
    });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
