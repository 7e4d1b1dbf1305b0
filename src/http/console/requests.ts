import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { receiptAnswer, requestsAnswer, requestsQuery } from "./requests-schema.ts";

export function requestsRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get(
      "/accounts/:account/requests",
      (): typeof requestsAnswer.static => {
        throw new GatewayError("not_built");
      },
      { needs: "requests.read", query: requestsQuery, response: requestsAnswer },
    )
    .get(
      "/accounts/:account/requests/live",
      (): Response => {
        throw new GatewayError("not_built");
      },
      { needs: "requests.read" },
    )
    .get(
      "/accounts/:account/requests/:id",
      (): typeof receiptAnswer.static => {
        throw new GatewayError("not_built");
      },
      {
        needs: "requests.read",
        params: t.Object({ account: t.String(), id: t.String() }),
        response: receiptAnswer,
      },
    );
}
