import { printTime } from "../domain/id-time.ts";
import { itemsOf } from "../domain/items.ts";
import { printPrices, savedByCaching } from "../domain/model.ts";
import { printPicos, printPrice, printUsd } from "../domain/money.ts";
import type { Usage } from "../domain/usage.ts";
import type { OutcomeFacts, Receipt } from "./records.ts";

/** Converts a receipt to the JSON of `GET /v1/receipts/{request_id}`: amounts as decimal USD. */
export function printReceipt(receipt: Receipt): object {
  const { request, outcome } = receipt;
  return {
    object: "receipt",
    request_id: receipt.holdId,
    key_id: receipt.keyId,
    scopes: printScopes(receipt),
    state: receipt.state,
    late: receipt.late,
    surface: request.surface,
    model: request.model,
    upstream: outcome?.upstream ?? null,
    upstream_model: outcome?.upstreamModel ?? null,
    outcome: outcome?.outcome ?? null,
    granted_usd: printUsd(receipt.granted),
    charged_usd: printUsd(receipt.captured),
    refunded_usd: printUsd(receipt.refunded),
    charge_source: outcome?.source ?? null,
    usage: outcome?.usage ? printUsage(outcome.usage) : null,
    tier: outcome?.tier ?? null,
    price_usd_per_million_tokens: outcome?.price ? printPrices(outcome.price) : null,
    saved_by_caching_usd: printSaved(receipt),
    units: outcome ? printUnits(outcome) : null,
    tool_calls: outcome ? printCalls(outcome) : [],
    priced_apart: outcome ? printModalities(outcome) : [],
    first_output_ms: outcome?.firstOutputMs ?? null,
    total_ms: outcome?.totalMs ?? null,
    attempts: outcome?.attempts ?? [],
    metadata: receipt.metadata ?? null,
    created_at: printTime(receipt.createdAtMs),
    resolved_at: printTime(receipt.resolvedAtMs),
  };
}

/** What a receipt counts for beside its account and key. */
function printScopes({ scopes }: Pick<Receipt, "scopes">): readonly object[] {
  return scopes.map(({ kind, id }) => ({ kind, id }));
}

/** Prints what prompt caching saved, below zero for a loss; `null` without usage or price. */
export function printSaved({ outcome }: Pick<Receipt, "outcome">): string | null {
  const { usage, price } = outcome ?? {};
  return usage && price ? printUsd(savedByCaching(usage, price)) : null;
}

/** Like {@link printReceipt}, with the upstream cost, which only operators see. */
export function printOperatorReceipt(receipt: Receipt): object {
  const cost = receipt.outcome?.upstreamCost;
  return { ...printReceipt(receipt), upstream_cost_usd: cost === undefined ? null : printUsd(cost) };
}

/** The units of a request that is charged by unit, with the price of one. */
function printUnits({ usage, price }: OutcomeFacts): object | null {
  if (!price?.unit || usage?.units === undefined) return null;
  return { unit: price.unit.name, count: usage.units, usd_per_unit: printPicos(price.unit.picos) };
}

/** The calls of tools at the provider, with the fee of one. */
function printCalls({ usage, price }: OutcomeFacts): readonly PrintedCalls[] {
  return Object.entries(usage?.calls ?? {}).map(([tool, calls]) => {
    return { tool, calls, usd_per_call: printPicos(price?.tools?.[tool] ?? 0n) };
  });
}

interface PrintedCalls {
  readonly tool: string;
  readonly calls: number;
  readonly usd_per_call: string;
}

/** The tokens of audio and images, which `usage` contains, at prices of their own. */
function printModalities({ usage, price }: OutcomeFacts): readonly PrintedTokens[] {
  if (!price || !usage || (!usage.audio && !usage.image)) return [];
  return itemsOf({ ...price, tools: undefined }, { ...usage, calls: undefined }).map(
    ({ name, count, picos }) => ({ tokens: name, count, usd_per_million_tokens: printPrice(picos) }),
  );
}

interface PrintedTokens {
  /** "audio.input", "image.output". */
  readonly tokens: string;
  readonly count: number;
  readonly usd_per_million_tokens: string;
}

function printUsage(usage: Usage): object {
  return {
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    cache_write_1h_tokens: usage.cacheWrite1hTokens,
    output_tokens: usage.outputTokens,
  };
}
