import { printUsd } from "../domain/money.ts";
import { inputTokensOf, totalTokensOf } from "../domain/usage.ts";
import type { Settlement, TakenHold } from "../ledger/ledger.ts";
import type { Attempt, OutcomeFacts } from "../ledger/records.ts";
import type { Admission } from "../limiter/limiter.ts";
import {
  isHoldMissing,
  isRetryable,
  ledgerTooLate,
  type OutboxEntry,
  submitEntry,
} from "../settlement-outbox/entry.ts";
import { type Charge, chargeFor } from "./charge.ts";
import type { Gateway } from "./gateway.ts";
import { holdFactsOf } from "./hold.ts";
import type { Meter } from "./meter.ts";
import { estimateInputTokens } from "./quote.ts";
import { type Answer, type Bill, type HeldRequest, outcomeName } from "./request.ts";

/** How long a client waits for the ledger before its settlement goes to the outbox. */
const ANSWER_MAX_MS = 3_000;

/** A request whose hold and slot are open. */
export interface Unsettled {
  readonly held: HeldRequest;
  readonly slot: Pick<Admission, "settle">;
}

/**
 * Books the charge of an answer, releases the rest of its hold, and gives slot and unused tokens back.
 * Resolves when the settlement is committed, or on disk while the ledger is away.
 */
export async function settle(gateway: Gateway, { held, slot }: Unsettled, answer: Answer): Promise<Bill> {
  const { trace } = held.call;
  trace?.note({ outcome: outcomeName(answer.outcome), attempts: answer.attempts.length });
  trace?.enter("settle");
  const charging = chargeFor(answer.outcome, held, gateway);
  const charge = charging instanceof Promise ? await charging : charging;
  if (charge.usage) reportExcess(gateway, held);
  if (charge.isTierDoubted) reportTier(gateway, held);
  const { walletId, holdId } = held.hold;
  const { amount } = charge;
  const facts = outcomeFacts(gateway, { held, answer, charge });
  const entry: OutboxEntry =
    charge.source === "none"
      ? { kind: "release", request: { walletId, holdId, facts } }
      : { kind: "settle", request: { walletId, holdId, amount, facts } };
  const released = slot.settle(usedTokensOf(held, charge));
  const settlement = await bookOrStore(gateway, held, entry);
  const charged = settlement?.captured ?? amount;
  const { granted } = held.hold;
  held.call.progress.settled = {
    granted,
    charged,
    upstreamCost: charge.upstreamCost,
    tier: charge.tier,
    ...meteredOf(held, charge),
  };
  await released;
  trace?.note({ chargedUsd: printUsd(charged), source: charge.source, tier: charge.tier });
  return { charged, balances: settlement?.balances };
}

/** The tokens that limits count: of a request that is charged by unit, an estimate of its text. */
function usedTokensOf({ quote }: HeldRequest, { usage }: Charge): number {
  if (!usage) return 0;
  return usage.units === undefined ? totalTokensOf(usage) : estimateInputTokens(quote);
}

function meteredOf({ call, meter, quote }: HeldRequest, { usage }: Charge) {
  const { firstOutputAt } = meter;
  const isTimed = quote.request.stream && firstOutputAt !== undefined;
  return { usage, firstOutputMs: isTimed ? firstOutputAt - call.startedAt : undefined };
}

/**
 * Returns `undefined` when the ledger is away, or has lost the hold: then the entry is in the outbox, which replays it
 * later.
 */
async function bookOrStore(
  gateway: Gateway,
  held: HeldRequest,
  entry: OutboxEntry,
): Promise<Settlement | undefined> {
  const { ledger, outbox, timer, requestMetrics } = gateway;
  const submitted = submitEntry(ledger, entry, held.call.trace?.context);
  try {
    return await timer.limit(ANSWER_MAX_MS, submitted, ledgerTooLate);
  } catch (fault) {
    if (!isRetryable(fault) && !isHoldMissing(fault)) {
      requestMetrics.settleFailed("declined");
      throw fault;
    }
    await outbox.append(withTakenHold(entry, takenHoldOf(gateway, held))).catch((notStored: unknown) => {
      requestMetrics.settleFailed("lost");
      throw notStored;
    });
    requestMetrics.settleFailed("stored");
    return undefined;
  }
}

/** A loss of power may make the ledger forget the hold of an entry that is on disk. */
function withTakenHold(entry: OutboxEntry, taken: TakenHold): OutboxEntry {
  return entry.kind === "settle"
    ? { kind: "settle", request: { ...entry.request, taken } }
    : { kind: entry.kind, request: { ...entry.request, taken } };
}

function takenHoldOf({ holdTtlMs: ttlMs }: Gateway, { call, hold, quote }: HeldRequest): TakenHold {
  const { keyId, scopes, granted } = hold;
  return { keyId, scopes, granted, ttlMs, facts: holdFactsOf(call, quote) };
}

interface Settling {
  readonly held: HeldRequest;
  readonly answer: Answer;
  readonly charge: Charge;
}

function outcomeFacts({ clock }: Gateway, { held, answer, charge }: Settling): OutcomeFacts {
  const { call, meter, plan } = held;
  const attempts = isReportAsCharged(charge) ? answer.attempts : withReport(answer.attempts, meter, charge);
  const route = meter.candidate?.route;
  const firstOutputMs = meter.firstOutputAt === undefined ? undefined : meter.firstOutputAt - call.startedAt;
  return {
    outcome: outcomeName(answer.outcome),
    source: charge.source,
    upstream: route?.upstream,
    upstreamModel: route?.upstreamModel,
    price: charge.price ?? route?.price,
    tier: charge.tier,
    upstreamCost: charge.upstreamCost,
    usage: charge.usage,
    firstOutputMs: firstOutputMs === undefined ? undefined : Math.round(firstOutputMs),
    totalMs: Math.round(clock() - call.startedAt),
    attempts: plan.skipped ? [...plan.skipped, ...attempts] : attempts,
  };
}

function isReportAsCharged({ source, isTierDoubted }: Charge): boolean {
  return source !== "estimated" && !isTierDoubted;
}

/** Notes at the last attempt why its report was not charged as it was; nothing for one that came to no end. */
function withReport(attempts: readonly Attempt[], meter: Meter, charge: Charge): readonly Attempt[] {
  const last = attempts.at(-1);
  const report = charge.isTierDoubted ? "tier" : faultOfReport(meter);
  return last && report ? [...attempts.slice(0, -1), { ...last, report }] : attempts;
}

function faultOfReport(meter: Meter): string | undefined {
  if (meter.excess()) return "above_bound";
  if (meter.isUsageRejected) return "uncountable";
  return meter.reported() ? undefined : "missing";
}

/** Logs and counts a tier that was not believed: the provider may bill more than was charged here. */
function reportTier({ log, metrics }: Gateway, { call, meter }: HeldRequest): void {
  if (!meter.candidate) return;
  const { route, tier } = meter.candidate;
  metrics.aboveBound(route.upstream, "tier");
  const tiers = { asked: tier?.asked ?? "standard", served: meter.servedTier };
  log.error(
    { request: call.id, upstream: route.upstream, model: route.upstreamModel, ...tiers },
    "service tier not asked for",
  );
}

/**
 * Logs and counts a usage that was cut before the charge: the provider may bill more than was charged here.
 */
function reportExcess({ log, metrics }: Gateway, { call, meter }: HeldRequest): void {
  const excess = meter.excess();
  if (!excess || !meter.candidate) return;
  call.record.aboveBound = true;
  const { upstream, upstreamModel: model } = meter.candidate.route;
  const { reported, bound } = excess;
  const inputTokens = inputTokensOf(reported);
  const { outputTokens } = reported;
  if (inputTokens > bound.inputTokens) metrics.aboveBound(upstream, "input");
  if (outputTokens > bound.outputTokens) metrics.aboveBound(upstream, "output");
  const { units = 0 } = reported;
  if (units > (bound.units ?? 0)) metrics.aboveBound(upstream, "units");
  const { calls } = reported;
  if (excess.areCallsCut) metrics.aboveBound(upstream, "calls");
  const maxima = { inputTokensMax: bound.inputTokens, outputTokensMax: bound.outputTokens };
  const tokens = { inputTokens, outputTokens, ...maxima, ...(calls && { calls: { ...calls } }) };
  const numbers = units > 0 ? { units, unitsMax: bound.units } : tokens;
  log.error({ request: call.id, upstream, model, ...numbers }, "usage above bound");
}
