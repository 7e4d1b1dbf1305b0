import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { refusalAnswer, refusalsAnswer, refusalsQuery } from "./requests-schema.ts";

export function refusalsRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get(
      "/accounts/:account/refusals",
      (): typeof refusalsAnswer.static => {
        throw new GatewayError("not_built");
      },
      { needs: "requests.read", query: refusalsQuery, response: refusalsAnswer },
    )
    .get(
      "/accounts/:account/refusals/:request_id",
      (): typeof refusalAnswer.static => {
        throw new GatewayError("not_built");
      },
      {
        needs: "requests.read",
        params: t.Object({ account: t.String(), request_id: t.String() }),
        response: refusalAnswer,
      },
    );
}
