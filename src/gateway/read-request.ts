import type { Body } from "../bodies/body.ts";
import type { Caller } from "../keys/key.ts";
import type { Call, Gateway } from "./gateway.ts";

/**
 * Reads the body of a request whose caller is known. Throws `not_json`, `wrong_shape` and whatever else the format
 * refuses, and what `Call.readBody` throws.
 */
export async function readRequest({ bodies }: Gateway, call: Call, caller: Caller): Promise<Body> {
  const blocks = await call.readBody(caller);
  return bodies.read({ wire: call.wire, owner: caller.key.accountId, blocks });
}
