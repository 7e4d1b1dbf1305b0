import type { Caller } from "../accounts/keys/key.ts";
import type { Body } from "../bodies/body.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import type { Scope } from "../domain/scope.ts";
import { GatewayError, messageOfLimit } from "../errors.ts";
import { LedgerError } from "../ledger/ledger.ts";
import type { OutcomeFacts, RequestFacts } from "../ledger/records.ts";
import { describeFault } from "../telemetry/log.ts";
import {
  aboveCost,
  boundBy,
  causeOf,
  type Decline,
  declineHeaders,
  declineOf,
  shortageOf,
} from "./decline.ts";
import type { Gateway } from "./gateway.ts";
import { amountOf, clampToGrant, type Quote, quoteRequest } from "./quote.ts";
import type { Call, OpenHold, Plan, Reply } from "./request.ts";
import { type Attribution, scopesOf } from "./scopes.ts";

/** A request for a hold. */
export interface Quoted {
  readonly call: Call;
  readonly caller: Caller;
  readonly attribution: Attribution | undefined;
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
  quoted.call.trace?.enter("hold");
  const scopes = scopesOf(gateway, quoted.caller, quoted.attribution);
  return scopes instanceof Promise
    ? scopes.then((found) => holdScoped(gateway, quoted, found))
    : holdScoped(gateway, quoted, scopes);
}

/** What a hold counts for beside its wallet and key. */
type Scopes = readonly Scope[] | undefined;

function holdScoped(gateway: Gateway, quoted: Quoted, scopes: Scopes): Promise<HeldQuote | Decline> {
  return quoted.body.measure ? holdMeasured(gateway, quoted, scopes) : holdQuote(gateway, quoted, scopes);
}

async function holdMeasured(gateway: Gateway, quoted: Quoted, scopes: Scopes): Promise<HeldQuote | Decline> {
  const { body, plan } = quoted;
  const decline = await findShortage(gateway, quoted, scopes);
  if (decline) return decline;
  const request = (await body.measure?.()) ?? body.request;
  return holdQuote(gateway, { ...quoted, quote: quoteRequest({ ...plan, request }) }, scopes);
}

/** Reads whether wallet and spending limits afford a quote, without a hold: the quote is only the least. */
async function findShortage(
  gateway: Gateway,
  { caller: { key }, attribution, quote }: Quoted,
  scopes: Scopes,
): Promise<Decline | undefined> {
  const needed = amountOf(quote, quote.outputTokensMax);
  const { costMax } = attribution ?? {};
  if (costMax !== undefined && needed > costMax) return aboveCost(needed, costMax);
  const { ledger, declines } = gateway;
  const spender = { accountId: key.accountId, keyId: key.id, scopes };
  const remembered = declines.recall(spender, needed);
  if (remembered) return remembered;
  const [wallet, limits] = await Promise.all([
    ledger.balances(key.accountId),
    ledger.spendLimits(key.accountId, key.id, scopes),
  ]);
  const shortage = shortageOf({ wallet, limits }, needed);
  if (!shortage) return undefined;
  const decline = await nameLimit(gateway, key, shortage);
  declines.note(spender, decline);
  return decline;
}

async function holdQuote(gateway: Gateway, quoted: Quoted, scopes: Scopes): Promise<HeldQuote | Decline> {
  const { call, caller, attribution } = quoted;
  const { id: keyId, accountId, accountId: walletId } = caller.key;
  const { trace } = call;
  const { costMax } = attribution ?? {};
  const quote = costMax === undefined ? quoted.quote : clampToCost(quoted.quote, costMax);
  if (!quote) return aboveCost(amountOf(quoted.quote, quoted.quote.outputTokensMin), costMax ?? 0n);
  const amount = amountOf(quote, quote.outputTokensMax);
  const canLower = quote.outputTokensMin < quote.outputTokensMax;
  const minimum = canLower ? amountOf(quote, quote.outputTokensMin) : amount;
  const remembered = gateway.declines.recall({ accountId, keyId, scopes }, minimum);
  if (remembered) return remembered;
  try {
    const request = {
      walletId,
      holdId: call.id,
      keyId,
      scopes,
      amount,
      minimum,
      ttlMs: gateway.holdTtlMs,
      facts: holdFactsOf(call, quote),
    };
    const options = trace ? { ...LOST_WITH_LEDGER, trace: trace.context } : LOST_WITH_LEDGER;
    const { granted } = await gateway.ledger.hold(request, options);
    gateway.holdHealth.taken();
    trace?.note({ grantedUsd: printUsd(granted) });
    const hold = { walletId, holdId: call.id, keyId, scopes, granted };
    return { hold, quote: granted === amount ? quote : clampToGrant(quote, granted) };
  } catch (fault) {
    const decline = declineOrThrow(gateway, { call, caller }, fault);
    const named = await nameLimit(gateway, caller.key, decline);
    gateway.declines.note({ accountId, keyId, scopes }, named);
    return named;
  }
}

/** Clamps the output limit to what a request may cost; `undefined` when the least that it costs is more. */
function clampToCost(quote: Quote, costMax: Nanos): Quote | undefined {
  if (amountOf(quote, quote.outputTokensMax) <= costMax) return quote;
  if (amountOf(quote, quote.outputTokensMin) > costMax) return undefined;
  return clampToGrant(quote, costMax);
}

/** The facts of a request that its hold is taken with. */
export function holdFactsOf({ surface, wire }: Call, { model }: Quote): RequestFacts {
  return { surface: surface ?? wire.surface, model: model.id };
}

/** Creates the error of a declined hold, and sets as headers its amounts and the limit that it met. */
export function declineError(decline: Decline, caller: Caller, reply: Reply): GatewayError {
  reply.setHeaders(declineHeaders(decline, caller));
  const { shortfall, limit } = decline;
  const facts = shortfall && { money: shortfall, spendingLimit: limit };
  const cause = causeOf(decline);
  return new GatewayError(cause, { message: limit && messageOfLimit(cause, boundBy(limit, caller)), facts });
}

/** Names the project, member or key above that a limit binds, by the owner's name of it. */
async function nameLimit({ keys }: Gateway, key: Caller["key"], decline: Decline): Promise<Decline> {
  const { kind, id } = decline.limit?.scope ?? {};
  const isNamed = kind === "project" || kind === "member" || (kind === "key" && id !== key.id);
  if (!isNamed) return decline;
  // While the names cannot be read, the id stands for the name.
  const names = await keys.nameScopes(key).catch(() => []);
  const named = kind === "key" ? "parent_key" : kind;
  return { ...decline, limitName: names.find((scope) => scope.kind === named && scope.id === id)?.name };
}

function declineOrThrow(
  gateway: Gateway,
  { call, caller }: Pick<Quoted, "call" | "caller">,
  fault: unknown,
): Decline {
  if (isInDoubt(fault)) releaseIfHeld(gateway, call, caller.key.accountId);
  const decline = declineOf(fault);
  if (!decline) {
    gateway.holdHealth.failed(fault);
    throw fault;
  }
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
