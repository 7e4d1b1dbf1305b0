import type { Caller } from "../accounts/key.ts";
import { toGatewayError } from "../errors.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { discardBody } from "./discard-body.ts";
import { refuse } from "./errors.ts";
import type { HttpParts } from "./http-parts.ts";
import { idHeaders, newRequestId } from "./identity.ts";
import { logInternalError } from "./log-internal.ts";
import { readSecret } from "./secret.ts";

/** Answers a request of a known caller with a JSON body, or with the error that `respond` threw. */
export async function answerCaller(
  request: Request,
  parts: HttpParts,
  respond: (caller: Caller, gateway: Gateway) => unknown,
): Promise<Response> {
  const gateway = parts.gateway();
  const requestId = newRequestId();
  try {
    const caller = await gateway.authenticate(readSecret(request.headers));
    return Response.json(await respond(caller, gateway), { headers: idHeaders(requestId) });
  } catch (thrown) {
    const error = toGatewayError(thrown);
    logInternalError(gateway.log, requestId, error);
    await discardBody(request);
    return refuse(request, error, requestId);
  }
}
