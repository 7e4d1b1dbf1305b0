import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { accountParams } from "./key-shapes.ts";
import { id } from "./shapes.ts";

const playgroundBody = t.Object({
  key: id,
  model: t.String({ minLength: 1, maxLength: 256 }),
  messages: t.Array(
    t.Object({
      role: t.Union([t.Literal("system"), t.Literal("user"), t.Literal("assistant")]),
      content: t.String(),
    }),
    { minItems: 1, maxItems: 1000 },
  ),
  max_tokens: t.Optional(t.Integer({ minimum: 1, maximum: 10_000_000 })),
  temperature: t.Optional(t.Number({ minimum: 0, maximum: 2 })),
});

/** A streamed chat as a key, by its id: limits, hold and receipt are those of the key. */
export function playgroundRoutes(parts: ConsoleParts) {
  return new Elysia().use(createGuard(parts)).post("/accounts/:account/playground", notBuilt, {
    needs: "playground",
    params: accountParams,
    body: playgroundBody,
  });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
