import type { Caller } from "../accounts/key.ts";
import type { Body } from "../bodies/body.ts";
import { GatewayError } from "../errors.ts";
import { type HoldGrant, LedgerError, type OutcomeFacts } from "../ledger/ledger.ts";
import { describeFault } from "../telemetry/log.ts";
import { type Admitted, giveBack } from "./admit.ts";
import type { RunningCaller } from "./caller-watch.ts";
import type { Call, Gateway, Reply } from "./gateway.ts";
import { causeOf, type Decline, declineHeaders, declineOf } from "./hold-decline.ts";
import { createMeter, type Meter } from "./meter.ts";
import { amountOf, fitGrant, type Quote } from "./quote.ts";

/** Money that is reserved for a running request, and what that request has used of it. */
export interface OpenHold {
  readonly walletId: string;
  readonly holdId: string;
  /** With the ceiling that the grant pays for. */
  readonly quote: Quote;
  readonly meter: Meter;
  /** Whose request it is, while that may be. */
  readonly caller: RunningCaller;
  /** The request body: printed for each attempt, and counted where the upstream reports no usage. */
  readonly body: Body;
}

/**
 * Reserves the most a request may cost, or the part of it that is affordable. Throws a cause of 402 or
 * `account_suspended`, having given back what the admission took.
 */
export async function takeHold(
  gateway: Gateway,
  { caller, call, admitted, body }: { caller: Caller; call: Call; admitted: Admitted; body: Body },
  reply: Reply,
): Promise<OpenHold> {
  const { admission, quote: asked } = admitted;
  const walletId = caller.key.accountId;
  try {
    const grant = await requestHold(gateway, { caller, call, quote: asked }, reply);
    const quote = fitGrant(asked, grant.granted);
    const meter = createMeter(quote, gateway.clock);
    gateway.heartbeats.start({ walletId, holdId: call.id, accrued: meter.accrued });
    if (quote.ceiling !== quote.request.outputTokensMax) {
      reply.setHeaders({ "x-tollgate-max-tokens": String(quote.ceiling) });
    }
    return { walletId, holdId: call.id, quote, meter, body, caller: gateway.callers.start(caller.key.id) };
  } catch (refusal) {
    // Only what is refused costs nothing; a request that met a fault of ours was admitted, and counts.
    if (refusal instanceof GatewayError) await giveBack(gateway, call, admitted, reply);
    else await admission.settle(0);
    throw refusal;
  }
}

async function requestHold(
  gateway: Gateway,
  { caller, call, quote }: { caller: Caller; call: Call; quote: Quote },
  reply: Reply,
): Promise<HoldGrant> {
  const { id: keyId, accountId: walletId } = caller.key;
  const minimum = amountOf(quote, quote.floor);
  const remembered = gateway.refusals.recall(keyId, minimum);
  if (remembered) throw refusalOf(remembered, reply);
  try {
    const grant = await gateway.ledger.hold({
      walletId,
      holdId: call.id,
      keyId,
      amount: amountOf(quote, quote.ceiling),
      minimum,
      ttlMs: gateway.holdTtlMs,
      facts: { surface: call.wire.surface, model: quote.model.id },
    });
    gateway.holdHealth.taken();
    return grant;
  } catch (fault) {
    if (isUnknown(fault)) abandonHold(gateway, call, walletId);
    const decline = declineOf(fault);
    if (!decline) {
      gateway.holdHealth.failed(fault);
      throw fault;
    }
    gateway.refusals.note(keyId, decline);
    throw refusalOf(decline, reply);
  }
}

/** The error of a declined hold; its amounts go into the reply's headers. */
function refusalOf(decline: Decline, reply: Reply): GatewayError {
  reply.setHeaders(declineHeaders(decline));
  return new GatewayError(causeOf(decline));
}

/** Whether the hold may have been taken all the same. */
function isUnknown(fault: unknown): boolean {
  return fault instanceof LedgerError && fault.refusal === "unavailable";
}

/** Frees a hold that may have been taken although the ledger did not say so; it would expire, but a minute later. */
function abandonHold({ outbox, clock, log }: Gateway, call: Call, walletId: string): void {
  const facts: OutcomeFacts = {
    outcome: "internal_error",
    source: "none",
    totalMs: Math.round(clock() - call.startedAt),
    attempts: [],
  };
  outbox.append({ kind: "release_if_held", request: { walletId, holdId: call.id, facts } }).catch((fault) => {
    log.debug({ request: call.id, ...describeFault(fault) }, "hold left to expire");
  });
}
