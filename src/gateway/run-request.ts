import { admit } from "./admit.ts";
import { conclude } from "./conclude.ts";
import { forward } from "./forward.ts";
import type { Call, Gateway, Reply } from "./gateway.ts";
import { takeHold } from "./hold.ts";
import { quoteCall } from "./quote-call.ts";
import { readRequest } from "./read-request.ts";
import { recordAnswer, recordCaller } from "./request-record.ts";
import { settle } from "./settle.ts";

/**
 * The story of one request, streamed or whole. Throws a `GatewayError` for the client; whatever
 * happens after the hold, the hold is settled or released and the slot is given back, once.
 */
export async function runRequest(gateway: Gateway, call: Call, reply: Reply): Promise<void> {
  const sender = await gateway.authenticate(call.secret);
  recordCaller(call.record, sender);
  const { body, caller } = await readRequest(gateway, call, sender);
  if (body.request.stream) reply.expectStream(body.request.model);
  const quote = await quoteCall(gateway, { call, caller, body });
  const admitted = await admit(gateway, { call, caller, quote }, reply);
  const hold = await takeHold(gateway, { call, caller, admitted, body }, reply);
  try {
    const answer = await forward(gateway, call, hold, reply);
    const bill = await settle(gateway, call, { ...admitted, hold }, answer);
    recordAnswer(call.record, hold, answer, bill);
    conclude(answer.outcome, bill, reply);
  } finally {
    gateway.heartbeats.stop(hold.holdId);
    gateway.callers.stop(hold.caller);
    await admitted.admission.settle(0);
  }
}
