import { admit, cancelAdmission, clampToLimits } from "./admit.ts";
import { conclude } from "./conclude.ts";
import { forward } from "./forward.ts";
import type { Gateway } from "./gateway.ts";
import { declineError, takeHold } from "./hold.ts";
import { RequestMeter } from "./meter.ts";
import { planRequest } from "./plan.ts";
import { quoteRequest, tokensOf } from "./quote.ts";
import { authenticate, readRequest } from "./read-request.ts";
import type { Call, HeldRequest, Reply } from "./request.ts";
import { settle } from "./settle.ts";

/**
 * The story of one request, streamed or whole. Throws a `GatewayError` for the client.
 *
 * Each resource ends once, whatever happens. The slot is settled together with the hold, and cancelled when
 * the hold is declined. After a fault the end of this function gives the slot back, and an open hold expires.
 * The heartbeat and the watch of the caller end here as well.
 */
export async function runRequest(gateway: Gateway, call: Call, reply: Reply): Promise<void> {
  const sender = await authenticate(gateway, call);
  const { body, caller } = await readRequest(gateway, call, sender);
  if (body.request.stream) reply.expectStream(body.request.model);
  const plan = await planRequest(gateway, { call, caller, body });
  const requested = clampToLimits(gateway, caller, quoteRequest(plan, call.trace));
  await using slot = await admit(gateway, { call, caller, tokens: tokensOf(requested) }, reply);
  const taken = await takeHold(gateway, { call, caller, body, plan, quote: requested });
  if ("reason" in taken) {
    await cancelAdmission(gateway, { call, caller, slot }, reply);
    throw declineError(taken, reply);
  }
  const { hold, quote } = taken;
  const meter = new RequestMeter(quote, gateway.clock);
  using _heartbeat = gateway.heartbeats.start(hold, meter);
  using running = gateway.callers.start(caller.key.id);
  const held: HeldRequest = { call, body, plan, quote, hold, meter, caller: running };
  call.onHeld?.(held);
  const answer = await forward(gateway, held, reply);
  const bill = await settle(gateway, { held, slot }, answer);
  conclude(held, { answer, bill }, reply);
}
