import type { Caller } from "../accounts/keys/key.ts";
import type { Body } from "../bodies/body.ts";
import { printUsd } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { LedgerError } from "../ledger/ledger.ts";
import type { OutcomeFacts, RequestFacts } from "../ledger/records.ts";
import { describeFault } from "../telemetry/log.ts";
import type { RequestHead } from "../wire/model-request.ts";
import { causeOf, type Decline, declineHeaders, declineOf, shortageOf } from "./decline.ts";
import type { Gateway } from "./gateway.ts";
import { amountOf, clampToGrant, type Quote, quoteRequest } from "./quote.ts";
import type { Call, OpenHold, Plan, Reply } from "./request.ts";

/** A request for a hold. */
export interface Quoted {
  readonly call: Call;
  readonly caller: Caller;
  readonly body: Body;
  readonly plan: Plan;
  readonly quote: Quote;
}

/** A hold, and the quote that it pays for: of the measured units, and clamped to the grant. */
export interface HeldQuote {
  readonly hold: OpenHold;
  readonly quote: Quote;
}

/** A ledger in this process loses power together with the request, whose settlement is synced with its hold. */
const LOST_WITH_LEDGER = { awaitsDisk: false } as const;

/**
 * Reserves the most that a request may cost, or the affordable part of it. A file is measured before, once the
 * least that it can cost is affordable. Returns the decline of a wallet or a spending limit. Rejects when the
 * ledger is away.
 */
export function takeHold(gateway: Gateway, quoted: Quoted): Promise<HeldQuote | Decline> {
  const { measure } = quoted.body;
  quoted.call.trace?.enter("hold");
  return measure
    ? holdMeasured(gateway, quoted, () => measure.call(quoted.body))
    : holdQuote(gateway, quoted);
}

async function holdMeasured(
  gateway: Gateway,
  quoted: Quoted,
  measure: () => Promise<RequestHead>,
): Promise<HeldQuote | Decline> {
  const decline = await findShortage(gateway, quoted);
  if (decline) return decline;
  const request = await measure();
  return holdQuote(gateway, { ...quoted, quote: quoteRequest({ ...quoted.plan, request }) });
}

/** Reads whether wallet and spending limits afford a quote, without a hold: the quote is only the least. */
async function findShortage(
  { ledger, declines }: Gateway,
  { caller: { key }, quote }: Quoted,
): Promise<Decline | undefined> {
  const needed = amountOf(quote, quote.outputTokensMax);
  const remembered = declines.recall(key.id, needed);
  if (remembered) return remembered;
  const [wallet, limits] = await Promise.all([
    ledger.balances(key.accountId),
    ledger.spendLimits(key.accountId, key.id),
  ]);
  const decline = shortageOf({ wallet, limits }, needed);
  if (decline) declines.note(key.id, decline);
  return decline;
}

async function holdQuote(gateway: Gateway, quoted: Quoted): Promise<HeldQuote | Decline> {
  const { call, caller, quote } = quoted;
  const { id: keyId, accountId: walletId } = caller.key;
  const { trace } = call;
  const amount = amountOf(quote, quote.outputTokensMax);
  const canLower = quote.outputTokensMin < quote.outputTokensMax;
  const minimum = canLower ? amountOf(quote, quote.outputTokensMin) : amount;
  const remembered = gateway.declines.recall(keyId, minimum);
  if (remembered) return remembered;
  try {
    const request = {
      walletId,
      holdId: call.id,
      keyId,
      amount,
      minimum,
      ttlMs: gateway.holdTtlMs,
      facts: holdFactsOf(call, quote),
    };
    const options = trace ? { ...LOST_WITH_LEDGER, trace: trace.context } : LOST_WITH_LEDGER;
    const { granted } = await gateway.ledger.hold(request, options);
    gateway.holdHealth.taken();
    trace?.note({ grantedUsd: printUsd(granted) });
    const hold = { walletId, holdId: call.id, keyId, granted };
    return { hold, quote: granted === amount ? quote : clampToGrant(quote, granted) };
  } catch (fault) {
    return declineOrThrow(gateway, quoted, fault);
  }
}

/** The facts of a request that its hold is taken with. */
export function holdFactsOf({ surface, wire }: Call, { model }: Quote): RequestFacts {
  return { surface: surface ?? wire.surface, model: model.id };
}

/** Creates the error of a declined hold and sets its amounts as headers. */
export function declineError(decline: Decline, reply: Reply): GatewayError {
  reply.setHeaders(declineHeaders(decline));
  const { shortfall } = decline;
  return new GatewayError(causeOf(decline), shortfall ? { facts: { money: shortfall } } : {});
}

function declineOrThrow(gateway: Gateway, { call, caller }: Quoted, fault: unknown): Decline {
  if (isInDoubt(fault)) releaseIfHeld(gateway, call, caller.key.accountId);
  const decline = declineOf(fault);
  if (!decline) {
    gateway.holdHealth.failed(fault);
    throw fault;
  }
  gateway.declines.note(caller.key.id, decline);
  return decline;
}

/** Whether the ledger may have taken the hold although it did not answer. */
function isInDoubt(fault: unknown): boolean {
  return fault instanceof LedgerError && fault.code === "unavailable";
}

/**
 * Queues the release of a hold in doubt. Without the release the hold would expire, but only a minute later.
 */
function releaseIfHeld({ outbox, clock, log }: Gateway, call: Call, walletId: string): void {
  const facts: OutcomeFacts = {
    outcome: "internal_error",
    source: "none",
    totalMs: Math.round(clock() - call.startedAt),
    attempts: [],
  };
  outbox.append({ kind: "release_if_held", request: { walletId, holdId: call.id, facts } }).catch((fault) => {
    log.debug({ request: call.id, ...describeFault(fault) }, "hold in doubt left to expire");
  });
}
