import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { findAnswer } from "./requests-schema.ts";

export function findRoutes(parts: ConsoleParts) {
  return new Elysia().use(createGuard(parts)).get(
    "/find",
    (): typeof findAnswer.static => {
      throw new GatewayError("not_built");
    },
    {
      needsSession: true,
      query: t.Object({ q: t.String({ minLength: 1, maxLength: 256 }) }),
      response: findAnswer,
    },
  );
}
