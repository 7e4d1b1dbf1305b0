import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import {
  anomaliesAnswer,
  operatorUsageQuery,
  usageAnswer,
  usageQuery,
  whatIfAnswer,
  whatIfBody,
} from "./usage-schema.ts";

export function usageRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get(
      "/accounts/:account/usage",
      (): typeof usageAnswer.static => {
        throw new GatewayError("not_built");
      },
      { needs: "usage.read", query: usageQuery, response: usageAnswer },
    )
    .get(
      "/accounts/:account/usage.csv",
      (): string => {
        throw new GatewayError("not_built");
      },
      { needs: "usage.read", query: usageQuery, response: t.String() },
    )
    .get(
      "/accounts/:account/usage/anomalies",
      (): typeof anomaliesAnswer.static => {
        throw new GatewayError("not_built");
      },
      { needs: "usage.read", response: anomaliesAnswer },
    )
    .post(
      "/accounts/:account/what-if",
      (): typeof whatIfAnswer.static => {
        throw new GatewayError("not_built");
      },
      { needs: "usage.read", body: whatIfBody, response: whatIfAnswer },
    )
    .get(
      "/operator/usage",
      (): typeof usageAnswer.static => {
        throw new GatewayError("not_built");
      },
      { needsOperator: true, query: operatorUsageQuery, response: usageAnswer },
    );
}
