import { Elysia } from "elysia";
import { type Cause, GatewayError } from "../errors.ts";
import { describeFault } from "../telemetry/log.ts";
import { anthropicMessages } from "../wire/anthropic-messages/protocol.ts";
import { openaiChat } from "../wire/openai-chat/protocol.ts";
import { openaiEmbeddings } from "../wire/openai-embeddings/protocol.ts";
import { openaiResponses } from "../wire/openai-responses/protocol.ts";
import { discardBody } from "./discard-body.ts";
import { refuse } from "./errors.ts";
import { healthRoutes } from "./health.ts";
import type { HttpParts } from "./http-parts.ts";
import { newRequestId } from "./identity.ts";
import { countTokensRoute, inferenceRoute } from "./inference.ts";
import { keyRoute } from "./key.ts";
import { modelRoutes } from "./models.ts";
import { isNotBuilt } from "./not-built.ts";
import { receiptRoute } from "./receipts.ts";
import { pathOf } from "./request-path.ts";

/** All routes, assembled; listens to nothing. Whatever matches none of them is answered under the contract too. */
export function createApp(parts: HttpParts) {
  return new Elysia({ strictPath: true })
    .use(inferenceRoute(openaiChat, parts))
    .use(inferenceRoute(anthropicMessages, parts))
    .use(inferenceRoute(openaiResponses, parts))
    .use(inferenceRoute(openaiEmbeddings, parts))
    .use(countTokensRoute(parts))
    .use(modelRoutes(parts))
    .use(keyRoute(parts))
    .use(receiptRoute(parts))
    .use(healthRoutes(parts))
    .onError(({ request, code, error }) => {
      if (code === "NOT_FOUND") return refuseKnown(request);
      parts.gateway().log.error(describeFault(error), "fault in a route");
      return refuse(request, new GatewayError("internal"), newRequestId());
    });
}

/** Answers a path of ours with a method that it does not have, or of a known route that is not built. */
export function refuseKnown(request: Request): Promise<Response> {
  const cause = isNotBuilt(request.method, pathOf(request)) ? "not_built" : "unknown_route";
  return refuseAfterBody(request, cause);
}

/** Answers a path that is none of ours. */
export function refuseUnmatched(request: Request): Promise<Response> {
  return refuseAfterBody(request, "unknown_route");
}

async function refuseAfterBody(request: Request, cause: Cause): Promise<Response> {
  await discardBody(request);
  return refuse(request, new GatewayError(cause), newRequestId());
}
