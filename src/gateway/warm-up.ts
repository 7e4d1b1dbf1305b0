import { NO_USAGE } from "../domain/usage.ts";
import { GatewayError } from "../errors.ts";
import { admit, authenticate, readRequest } from "./admit.ts";
import type { Gateway } from "./gateway.ts";
import { selectModel } from "./plan.ts";
import type { Call, Reply } from "./request.ts";
import { readAttribution } from "./scopes.ts";

/**
 * The story of a warm-up: a response without output, whose id a later request continues from. No model is called,
 * so that it is free of charge and has no receipt, but the request limits count it. Throws a `GatewayError`.
 */
export async function warmUp(gateway: Gateway, call: Call, reply: Reply): Promise<void> {
  const sender = await authenticate(gateway, call);
  const { body, caller, recording } = await readRequest(gateway, call, sender);
  // Nothing is answered that is worth keeping.
  recording?.[Symbol.dispose]();
  const { request } = body;
  reply.expectStream(request.model);
  const model = selectModel(gateway.catalog, caller, request);
  call.record.model = model.id;
  readAttribution({ call, caller, request });
  const slot = await admit(gateway, { call, caller, tokens: 0 }, reply);
  await slot.settle(0);
  const printer = call.wire.ingress?.printStream({
    id: call.id.replaceAll("-", ""),
    createdAtS: call.createdAtS,
    inputTokens: 0,
    request,
    isReasoningShown: false,
  });
  if (!printer) throw new GatewayError("not_built");
  call.record.outcome = reply.signal.aborted ? "client_closed" : "ok";
  const finish = { kind: "finish", reason: "stop", stopSequence: undefined } as const;
  reply.end(printer.end(finish, { kind: "usage", usage: NO_USAGE, reasoningTokens: 0 }));
}
