import type { Caller } from "../accounts/keys/key.ts";
import { toGatewayError } from "../errors.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { readAttribution } from "../gateway/scopes.ts";
import { discardBody } from "./body.ts";
import { logInternalError, respondWithError } from "./errors.ts";
import type { HttpParts } from "./http-parts.ts";
import { idHeaders, newRequestId, readSecret } from "./identity.ts";
import { readAttributionHeaders } from "./inference.ts";

/**
 * Authenticates a request and responds with the JSON that `respond` returns, or with the error it threw. Headers of
 * attribution are checked as for requests of models.
 */
export async function answerCaller(
  request: Request,
  parts: HttpParts,
  respond: (caller: Caller, gateway: Gateway) => unknown,
): Promise<Response> {
  const gateway = parts.gateway();
  const requestId = newRequestId();
  try {
    const caller = await gateway.authenticate(readSecret(request.headers));
    readAttribution({
      call: { attribution: readAttributionHeaders(request.headers) },
      caller,
      request: { endUser: undefined },
    });
    return Response.json(await respond(caller, gateway), { headers: idHeaders(requestId) });
  } catch (thrown) {
    const error = toGatewayError(thrown);
    logInternalError(gateway.log, requestId, error);
    await discardBody(request);
    return respondWithError(request, error, requestId);
  }
}
