import { printUsd } from "../domain/money.ts";
import { type Cause, GatewayError } from "../errors.ts";
import { admit, authenticate, cancelAdmission, clampToLimits, readRequest } from "./admit.ts";
import { forward } from "./forward.ts";
import type { Gateway } from "./gateway.ts";
import { declineError, takeHold } from "./hold.ts";
import { Meter } from "./meter.ts";
import { planRequest } from "./plan.ts";
import { quoteRequest, tokensOf } from "./quote.ts";
import { recordReply } from "./recorded-reply.ts";
import { type Answer, type Bill, type Call, type HeldRequest, outcomeName, type Reply } from "./request.ts";
import { readAttribution } from "./scopes.ts";
import { settle } from "./settle.ts";

/**
 * The story of one request, streamed or whole. Throws a `GatewayError` for the client.
 *
 * Each resource ends once, whatever happens. The slot is settled together with the hold, and cancelled when
 * the hold is declined. After a fault the end of this function gives the slot back, and an open hold expires.
 * The heartbeat and the watch of the caller end here as well, and so does the recording of its bodies.
 */
export async function runRequest(gateway: Gateway, call: Call, reply: Reply): Promise<void> {
  const sender = await authenticate(gateway, call);
  const { body, caller, recording } = await readRequest(gateway, call, sender);
  using _recording = recording;
  if (body.request.stream) reply.expectStream(body.request.model);
  const plan = await planRequest(gateway, { call, caller, body });
  const attribution = readAttribution({ call, caller, request: body.request });
  const requested = clampToLimits(gateway, caller, quoteRequest(plan, call.trace));
  await using slot = await admit(gateway, { call, caller, tokens: tokensOf(requested) }, reply);
  const taken = await takeHold(gateway, { call, caller, attribution, body, plan, quote: requested });
  if ("reason" in taken) {
    await cancelAdmission(gateway, { call, caller, slot }, reply);
    throw declineError(taken, caller, reply);
  }
  const { hold, quote } = taken;
  const meter = new Meter(quote, gateway.clock);
  using _heartbeat = gateway.heartbeats.start(hold, meter);
  using running = gateway.callers.start(caller.key.id);
  const held: HeldRequest = { call, body, plan, quote, hold, meter, caller: running };
  call.onHeld?.(held);
  const recorded = recording ? recordReply(reply, recording) : reply;
  const answer = await forward(gateway, held, recorded);
  const bill = await settle(gateway, { held, slot }, answer);
  recording?.settled(outcomeName(answer.outcome));
  conclude(held, { answer, bill }, recorded);
}

/** Errors that have a form of their own for a request that was charged. */
const CHARGED: Partial<Record<Cause, Cause>> = {
  internal: "internal_charged",
  key_revoked: "key_revoked_charged",
  account_suspended: "account_suspended_charged",
  shutting_down: "shutting_down_charged",
  upstream_unavailable: "upstream_broke_charged",
  upstream_timeout: "upstream_timeout_charged",
  upstream_total_timeout: "upstream_total_timeout_charged",
};

/** What came of a request: its answer and its charge. */
interface Settled {
  readonly answer: Answer;
  readonly bill: Bill;
}

/**
 * Records a settled request in the request log, and sends the client the withheld end of its answer. Throws
 * the error of a request without one, in its charged form when the request was charged.
 */
export function conclude(held: HeldRequest, settled: Settled, reply: Reply): void {
  held.call.trace?.enter("conclude");
  const { outcome } = settled.answer;
  const { charged, balances } = settled.bill;
  const chargedUsd = printUsd(charged);
  record(held, settled, chargedUsd);
  const isCharged = charged > 0n;
  reply.setHeaders(
    balances
      ? { "x-tollgate-cost-usd": chargedUsd, "x-tollgate-balance-usd": printUsd(balances.available) }
      : { "x-tollgate-cost-usd": chargedUsd },
  );
  if (outcome.kind === "empty") throw new GatewayError(isCharged ? "empty_charged" : "empty_released");
  if ("error" in outcome) throw isCharged ? chargedForm(outcome.error) : outcome.error;
  if (outcome.kind !== "finished") reply.end("");
  else if (outcome.rest) outcome.rest.file.end(outcome.rest.bytes);
  else reply.end(outcome.ending, outcome.contentType);
}

function chargedForm(error: GatewayError): GatewayError {
  const cause = CHARGED[error.kind];
  return cause ? new GatewayError(cause, { reason: error.cause }) : error;
}

function record({ call, quote, meter }: HeldRequest, { answer, bill }: Settled, chargedUsd: string): void {
  const line = call.record;
  line.model = quote.model.id;
  line.upstream = meter.candidate?.route.upstream;
  line.attempts = answer.attempts.length;
  line.outcome = outcomeName(answer.outcome);
  line.chargedUsd = chargedUsd;
  if (meter.isUsageRejected) line.disbelieved = true;
  if (!bill.balances) line.journaled = true;
}
