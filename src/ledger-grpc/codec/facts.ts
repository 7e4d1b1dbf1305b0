import { itemsOf, type PricedItem, readItems } from "../../domain/items.ts";
import type { Price as OurPrice } from "../../domain/model.ts";
import type { UnitPrice } from "../../domain/units.ts";
import type { Usage } from "../../domain/usage.ts";
import type * as Proto from "../../gen/messages.ts";
import type { TakenHold } from "../../ledger/ledger.ts";
import { ATTEMPTS_MAX, type Attempt, type OutcomeFacts, type RequestFacts } from "../../ledger/records.ts";
import { chargeSources, unitNames } from "./enums.ts";
import {
  decodeDuration,
  decodeNanos,
  decodeNumber,
  encodeCount,
  encodeDuration,
  encodeId,
  encodeInt32,
  encodeMs,
  encodeNanos,
  encodeText,
  sparse,
} from "./fields.ts";
import { decodeScopes, encodeScopes } from "./scopes.ts";

export function encodeRequestFacts({ surface, model }: RequestFacts): Proto.RequestFacts {
  return { surface: encodeText(surface), model: encodeText(model) };
}

export function decodeRequestFacts(wire: Proto.RequestFacts__Output | null): RequestFacts {
  return { surface: wire?.surface ?? "grpc", model: wire?.model ?? "" };
}

export function encodeTakenHold({ keyId, scopes, granted, ttlMs, facts }: TakenHold): Proto.TakenHold {
  return sparse<Proto.TakenHold>({
    keyId: encodeId(keyId),
    scopes: encodeScopes(scopes),
    grantedNanos: encodeNanos(granted),
    ttl: encodeDuration(ttlMs),
    facts: encodeRequestFacts(facts),
  });
}

export function decodeTakenHold(wire: Proto.TakenHold__Output): TakenHold {
  return {
    keyId: wire.keyId,
    scopes: decodeScopes(wire.scopes, "taken.scopes"),
    granted: decodeNanos(wire.grantedNanos),
    ttlMs: decodeDuration(wire.ttl, "taken.ttl", "invalid_amount"),
    facts: decodeRequestFacts(wire.facts),
  };
}

export function encodeOutcome(facts: OutcomeFacts): Proto.OutcomeFacts {
  return sparse<Proto.OutcomeFacts>({
    outcome: encodeText(facts.outcome),
    source: chargeSources.encode(facts.source),
    upstream: facts.upstream === undefined ? undefined : encodeText(facts.upstream),
    upstreamModel: facts.upstreamModel === undefined ? undefined : encodeText(facts.upstreamModel),
    price: facts.price && encodePrice(facts.price),
    tier: facts.tier === undefined ? undefined : encodeText(facts.tier),
    upstreamCostNanos: facts.upstreamCost === undefined ? undefined : encodeNanos(facts.upstreamCost),
    usage: facts.usage && encodeUsage(facts.usage),
    items: facts.price && facts.usage ? encodeItems(facts.price, facts.usage) : undefined,
    firstOutputMs: facts.firstOutputMs === undefined ? undefined : encodeMs(facts.firstOutputMs),
    totalMs: facts.totalMs === undefined ? undefined : encodeMs(facts.totalMs),
    attempts: facts.attempts.slice(-ATTEMPTS_MAX).map(encodeAttempt),
  });
}

/** The outcome of a settlement or release whose caller names none. */
export type OutcomeDefaults = Pick<OutcomeFacts, "outcome" | "source">;

export const SETTLED_OUTCOME: OutcomeDefaults = Object.freeze({ outcome: "ok", source: "reported" });
export const RELEASED_OUTCOME: OutcomeDefaults = Object.freeze({ outcome: "client_closed", source: "none" });

export function decodeOutcome(
  wire: Proto.OutcomeFacts__Output | null,
  defaults: OutcomeDefaults,
): OutcomeFacts {
  if (!wire) return { ...defaults, attempts: [] };
  const { firstOutputMs, totalMs, upstreamCostNanos } = wire;
  const items = wire.items.length > 0 ? readItems(wire.items.map(decodeItem)) : undefined;
  return {
    outcome: wire.outcome ?? defaults.outcome,
    source: chargeSources.decodeOptional(wire.source, "outcome.source") ?? defaults.source,
    upstream: wire.upstream,
    upstreamModel: wire.upstreamModel,
    price: wire.price ? { ...decodePrice(wire.price), ...items?.price } : undefined,
    tier: wire.tier,
    upstreamCost: upstreamCostNanos === undefined ? undefined : decodeNanos(upstreamCostNanos),
    usage: wire.usage ? { ...decodeUsage(wire.usage), ...items?.usage } : undefined,
    firstOutputMs: firstOutputMs === undefined ? undefined : decodeNumber(firstOutputMs),
    totalMs: totalMs === undefined ? undefined : decodeNumber(totalMs),
    attempts: wire.attempts.map(({ upstream, key, reason, report, status, durationMs }) => ({
      upstream,
      ...(key !== undefined && { key }),
      ...(reason !== undefined && { reason }),
      ...(report !== undefined && { report }),
      status,
      ms: decodeNumber(durationMs),
    })),
  };
}

/** Lists are sent only where there is something, as older servers expect. */
function encodeItems(price: OurPrice, usage: Usage): Proto.PricedItem[] | undefined {
  const items = itemsOf(price, usage);
  if (items.length === 0) return undefined;
  return items.map(({ name, count, picos }) =>
    sparse<Proto.PricedItem>({
      name: encodeText(name),
      count: encodeCount(count),
      picos: encodeNanos(picos),
    }),
  );
}

function decodeItem({ name, count, picos }: Proto.PricedItem__Output): PricedItem {
  return { name, count: decodeNumber(count), picos: decodeNanos(picos) };
}

function encodeAttempt({ upstream, key, reason, report, status, ms }: Attempt): Proto.Attempt {
  return sparse<Proto.Attempt>({
    upstream: encodeText(upstream),
    key: key === undefined ? undefined : encodeText(key),
    reason: reason === undefined ? undefined : encodeText(reason),
    report: report === undefined ? undefined : encodeText(report),
    status: encodeInt32(status),
    durationMs: encodeMs(ms),
  });
}

function encodePrice(price: OurPrice): Proto.Price {
  const { unit } = price;
  return sparse<Proto.Price>({
    inputPicos: encodeNanos(price.input),
    outputPicos: encodeNanos(price.output),
    cachedInputPicos: encodeNanos(price.cachedInput),
    cacheWritePicos: encodeNanos(price.cacheWrite),
    cacheWriteHourPicos: encodeNanos(price.cacheWrite1h),
    unit: unit && { name: unitNames.encode(unit.name), picos: encodeNanos(unit.picos) },
  });
}

function decodePrice(wire: Proto.Price__Output): OurPrice {
  return {
    input: decodeNanos(wire.inputPicos),
    output: decodeNanos(wire.outputPicos),
    cachedInput: decodeNanos(wire.cachedInputPicos),
    cacheWrite: decodeNanos(wire.cacheWritePicos),
    cacheWrite1h: decodeNanos(wire.cacheWriteHourPicos),
    unit: wire.unit ? decodeUnitPrice(wire.unit) : undefined,
  };
}

function decodeUnitPrice({ name, picos }: Proto.UnitPrice__Output): UnitPrice {
  return { name: unitNames.decode(name, "outcome.price.unit.name"), picos: decodeNanos(picos) };
}

export function encodeUsage(usage: Usage): Proto.TokenUsage {
  return sparse<Proto.TokenUsage>({
    inputTokens: encodeCount(usage.inputTokens),
    cachedInputTokens: encodeCount(usage.cachedInputTokens),
    cacheWriteTokens: encodeCount(usage.cacheWriteTokens),
    cacheWriteHourTokens: encodeCount(usage.cacheWrite1hTokens),
    outputTokens: encodeCount(usage.outputTokens),
    units: usage.units === undefined ? undefined : encodeCount(usage.units),
  });
}

export function decodeUsage(wire: Proto.TokenUsage__Output): Usage {
  return {
    inputTokens: decodeNumber(wire.inputTokens),
    cachedInputTokens: decodeNumber(wire.cachedInputTokens),
    cacheWriteTokens: decodeNumber(wire.cacheWriteTokens),
    cacheWrite1hTokens: decodeNumber(wire.cacheWriteHourTokens),
    outputTokens: decodeNumber(wire.outputTokens),
    units: wire.units === undefined ? undefined : decodeNumber(wire.units),
  };
}
