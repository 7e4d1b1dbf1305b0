import type { Caller } from "../accounts/keys/key.ts";
import { type Body, withModel } from "../bodies/body.ts";
import { GatewayError } from "../errors.ts";
import type { Gateway } from "./gateway.ts";
import type { Call } from "./request.ts";

/** A key that was read is trusted for this long; after a slower body the key is read again. */
const CALLER_TRUSTED_MS = 500;

/** Finds the caller of a request and records it in the request log. Throws `unknown_key`. */
export async function authenticate(gateway: Gateway, { secret, record, trace }: Call): Promise<Caller> {
  trace?.enter("authenticate");
  const caller = await gateway.authenticate(secret);
  record.keyId = caller.key.id;
  record.keyHint = caller.key.hint;
  record.accountId = caller.key.accountId;
  trace?.foundKey(caller.key.id);
  return caller;
}

/** A request body and its caller, as current after the body has arrived. */
export interface ReadRequest {
  readonly body: Body;
  readonly caller: Caller;
}

/**
 * Reads the body of a request, and its key again when the body took more than 500 ms. Throws `not_json`,
 * `wrong_shape` and the other errors of the format's parser, the errors of `Call.readBody`, and
 * `unknown_key`.
 */
export async function readRequest(gateway: Gateway, call: Call, caller: Caller): Promise<ReadRequest> {
  call.trace?.enter("read");
  const startedAt = gateway.clock();
  const blocks = await call.readBody(caller);
  call.waitedMs += gateway.clock() - startedAt;
  const read = await gateway.bodies.read({ wire: call.wire, owner: caller.key.accountId, blocks });
  const body = read.request.model === "" ? withModel(read, requireDefault(gateway, call)) : read;
  call.model = body.request.model;
  call.trace?.note({ stream: body.request.stream });
  if (gateway.clock() - call.startedAt < CALLER_TRUSTED_MS) return { body, caller };
  return { body, caller: await gateway.authenticate(call.secret) };
}

/** Returns the default model of a route. Throws `wrong_shape` where there is none. */
function requireDefault({ defaultModels = {} }: Gateway, { wire: { surface } }: Call): string {
  const model = surface === "moderations" || surface === "images" ? defaultModels[surface] : undefined;
  if (model === undefined) throw new GatewayError("wrong_shape", { path: "model" });
  return model;
}
