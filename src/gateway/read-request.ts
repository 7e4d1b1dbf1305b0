import type { Caller } from "../accounts/key.ts";
import type { Body } from "../bodies/body.ts";
import type { Call, Gateway } from "./gateway.ts";

/** A body that takes longer to come may find its key revoked: as long as a key that was read is believed. */
const CALLER_BELIEVED_MS = 500;

/** A request that was read, and its caller, who may call now that the body is there. */
export interface ReadRequest {
  readonly body: Body;
  readonly caller: Caller;
}

/**
 * Reads the body of a request, and its key once more when that took long. Throws `not_json`, `wrong_shape` and
 * whatever else the format refuses, what `Call.readBody` throws, and `unknown_key`.
 */
export async function readRequest(gateway: Gateway, call: Call, caller: Caller): Promise<ReadRequest> {
  const blocks = await call.readBody(caller);
  const body = await gateway.bodies.read({ wire: call.wire, owner: caller.key.accountId, blocks });
  if (gateway.clock() - call.startedAt < CALLER_BELIEVED_MS) return { body, caller };
  return { body, caller: await gateway.authenticate(call.secret) };
}
