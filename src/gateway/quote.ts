import { fillApart, type Model, type Price, type Route } from "../domain/model.ts";
import { mostOf, type Nanos, nanosToPicos, type PicosPerToken, picosToNanos } from "../domain/money.ts";
import type { TierOffer } from "../domain/tiers.ts";
import { dearestUnit, findUnpriced, type UnitPrice } from "../domain/units.ts";
import { BYTES_PER_TOKEN, BYTES_PER_TOKEN_MIN, type UsageBound } from "../domain/usage.ts";
import { GatewayError } from "../errors.ts";
import type { RequestTrace } from "../telemetry/request-trace.ts";
import type { AnswerReader } from "../wire/format-pair.ts";
import type { RequestHead } from "../wire/model-request.ts";
import { dearestFees, dearestInputOf, dearestOutputOf, runsTools } from "./priced-apart.ts";
import { offeredPrices } from "./tier-prices.ts";

/**
 * An output limit that the client did not set is never lowered below this many tokens beside its reasoning.
 */
const OUTPUT_TOKENS_MIN = 256;
/** A tenth more output than the limit is accepted as the provider's way of counting. */
const OUTPUT_TOLERANCE = 10;
/** A tool loop at a provider reads its prompt dozens of times. A report above this bound is wrong. */
const READINGS_MAX = 1_000;

/** As much of a candidate as its price depends on. */
export interface PricedCandidate {
  readonly route: Route;
  readonly codec: Pick<AnswerReader, "isPassthrough">;
  /** Tokens of the context window of this route, or that the client has opened on it; default: the model's. */
  readonly contextWindow?: number | undefined;
  /** The service tier that it is asked for; `undefined` for the standard one. */
  readonly tier?: TierOffer | undefined;
}

/** As much of a plan as its quote depends on. */
export interface QuotedPlan {
  readonly model: Model;
  readonly request: RequestHead;
  readonly candidates: readonly PricedCandidate[];
  /**
   * Bytes of the largest translated body, without inline media; 0 when every candidate gets the client's own.
   */
  readonly textBytes: number;
  /** Whether the client's own output limit may be lowered. */
  readonly mayClamp: boolean;
}

/** The most that a request may cost, and how far its output limit may be lowered. */
export interface Quote {
  readonly model: Model;
  readonly request: RequestHead;
  /** Most tokens of one prompt and its answer: the widest window of the candidates. */
  readonly contextWindow: number;
  /** The highest prices among the candidates; `units` is that of all units and calls of tools together. */
  readonly prices: {
    readonly input: PicosPerToken;
    readonly output: PicosPerToken;
    readonly units: bigint;
  };
  /** Upper bound of the input tokens. */
  readonly inputTokens: number;
  /** Output limit of each choice, as sent upstream. */
  readonly outputTokensMax: number;
  /** The lowest value that `outputTokensMax` may be clamped to. */
  readonly outputTokensMin: number;
}

/** Bounds the cost of a request without reading its text, in constant time. */
export function quoteRequest(plan: QuotedPlan, trace?: RequestTrace): Quote {
  trace?.enter("quote");
  const { model, request, candidates } = plan;
  const outputTokensMax = outputTokensMaxOf(model, request);
  const isOptional = plan.mayClamp || request.outputTokensMax === undefined;
  const mayLower = isOptional && request.outputTokensBound === undefined;
  const outputTokensMin = mayLower ? Math.min(leastOutput(request), outputTokensMax) : outputTokensMax;
  const contextWindow = widestWindow(model, candidates);
  const inputTokens = boundInput(plan, contextWindow);
  const prices = highestPrices(plan, contextWindow, inputTokens);
  trace?.note({ inputTokensMax: inputTokens, outputTokensMax });
  return { model, request, contextWindow, prices, inputTokens, outputTokensMax, outputTokensMin };
}

/** The output limit that a request asks for, or its model's default, within the model's limit. */
export function outputTokensMaxOf(model: Model, request: RequestHead): number {
  if (request.outputTokensBound === "model") return model.outputTokensMax + (request.outputTokensExtra ?? 0);
  const wanted = request.outputTokensMax ?? Math.max(model.outputTokensDefault, leastOutput(request));
  return Math.min(wanted, model.outputTokensMax);
}

export function leastOutput({ thinkingTokens }: RequestHead): number {
  return thinkingTokens + OUTPUT_TOKENS_MIN;
}

/** The cost at a given output limit and the highest prices. */
export function amountOf({ prices, inputTokens, request }: Quote, outputTokensMax: number): Nanos {
  const ofOneChoice = BigInt(outputTokensMax) * prices.output;
  const output = request.choices === 1 ? ofOneChoice : BigInt(request.choices) * ofOneChoice;
  return picosToNanos(BigInt(inputTokens) * prices.input + output + prices.units);
}

/** Input bound plus all output that may come: what a tokens-per-minute limit counts. */
export function tokensOf(quote: Quote): number {
  return quote.inputTokens + totalOutputMaxOf(quote);
}

/** The output limit of all choices together. */
export function totalOutputMaxOf({ request, outputTokensMax }: Quote): number {
  return request.choices * outputTokensMax;
}

/**
 * Clamps the output limit to what one minute can admit. Throws `too_many_tokens` when the minimum does not
 * fit, because no waiting would help.
 */
export function clampToMinute(quote: Quote, tokensPerMinute: number): Quote {
  if (tokensOf(quote) <= tokensPerMinute) return quote;
  const outputTokensMax = Math.floor((tokensPerMinute - quote.inputTokens) / quote.request.choices);
  if (outputTokensMax < quote.outputTokensMin) throw new GatewayError("too_many_tokens");
  return { ...quote, outputTokensMax };
}

/** Clamps the output limit to what the granted part of the quote pays for. */
export function clampToGrant(quote: Quote, granted: Nanos): Quote {
  if (granted >= amountOf(quote, quote.outputTokensMax)) return quote;
  const forOutput = nanosToPicos(granted - amountOf(quote, 0));
  const affordable = forOutput / (quote.prices.output * BigInt(quote.request.choices));
  return { ...quote, outputTokensMax: Math.max(quote.outputTokensMin, Number(affordable)) };
}

/** Estimates the input tokens by the size of the text. Only a fallback for prices; see `chargeFor`. */
export function estimateInputTokens({ request, inputTokens }: Quote): number {
  return Math.min(inputTokens, Math.ceil(request.input.textBytes / BYTES_PER_TOKEN));
}

/** The units that are charged where an answer reports none. */
export function usualUnitsOf({ units }: RequestHead): number {
  return units ? (units.usual ?? units.held) : 0;
}

/** The most tokens of spoken output in the bytes that an answer brought; 0 where the request asked for none. */
export function spokenTokensOf(quote: Quote, audioBytes: number): number {
  const { audioTokenBytes } = quote.request;
  if (audioTokenBytes === undefined) return 0;
  return Math.min(Math.ceil(audioBytes / audioTokenBytes), totalOutputMaxOf(quote));
}

/**
 * The most tokens and units that an honest answer of a candidate reports: a full context window for each prompt, and a
 * tenth more output than the limit. Both are multiplied where the provider may read the prompt again and
 * again.
 */
export function usageBoundOf(quote: Quote, candidate: PricedCandidate): UsageBound {
  const { input, units } = quote.request;
  const readings = readingsOf(quote.request, candidate);
  const outputTokens = totalOutputMaxOf(quote);
  return {
    units: units?.held,
    inputTokens: readings * (input.prompts ?? 1) * (candidate.contextWindow ?? quote.model.contextWindow),
    outputTokens: readings * (outputTokens + Math.floor(outputTokens / OUTPUT_TOLERANCE)),
  };
}

/** Whether the long-context price applies. Input above the window sums several readings; it counts as one. */
export function isLongContext({ longContext }: Model, inputTokens: number, contextWindow: number): boolean {
  if (!longContext) return false;
  return Math.min(inputTokens, contextWindow) > longContext.aboveInputTokens;
}

function widestWindow(model: Model, candidates: readonly PricedCandidate[]): number {
  let widest = 0;
  for (const { contextWindow = model.contextWindow } of candidates) widest = Math.max(widest, contextWindow);
  return widest;
}

/** How often an upstream may read the prompt for one answer. */
function readingsOf(request: RequestHead, candidate: PricedCandidate): number {
  if (runsTools(request, candidate)) return READINGS_MAX;
  return candidate.codec.isPassthrough ? (request.input.readings ?? 1) : 1;
}

/** Upper bound of the input tokens, by the larger of the client's body and the largest translated body. */
function boundInput(plan: QuotedPlan, contextWindow: number): number {
  const { model, request, candidates } = plan;
  const { images, imageWeight = 1, unbounded, serverTools, prompts = 1, readings = 1 } = request.input;
  const isReadAgain = readings > 1 && candidates.some(({ codec }) => codec.isPassthrough);
  const inputTokensMax = contextWindow * prompts;
  // The tokens of a model that is priced by unit count against limits only.
  const fillsWindow = unbounded && !model.price.unit;
  if (fillsWindow || (serverTools && candidates.some((each) => runsTools(request, each))))
    return inputTokensMax;
  const text = Math.ceil(Math.max(request.input.textBytes, plan.textBytes) / BYTES_PER_TOKEN_MIN);
  return (
    Math.min(text + images * imageWeight * model.imageTokens, inputTokensMax) * (isReadAgain ? readings : 1)
  );
}

function highestPrices(plan: QuotedPlan, contextWindow: number, inputTokens: number): Quote["prices"] {
  const isLong = isLongContext(plan.model, inputTokens, contextWindow);
  let input: PicosPerToken = 0n;
  let output: PicosPerToken = 0n;
  let units = 0n;
  const { request } = plan;
  for (const candidate of plan.candidates) {
    const { price, longPrice = price } = candidate.route;
    if (price.unit) units = mostOf(units, dearestUnits(price.unit, request));
    if (price.tools) units = mostOf(units, dearestFees(plan, candidate));
    for (const each of heldPrices(price, isLong ? longPrice : price, candidate.tier)) {
      input = mostOf(input, dearestInputOf(each, request));
      output = mostOf(output, dearestOutputOf(each, request));
    }
  }
  return { input, output, units };
}

/** Returns the prices of a route, standard and long, whose dearest a hold takes. */
function heldPrices(price: Price, longPrice: Price, tier: TierOffer | undefined): readonly Price[] {
  const both = price === longPrice ? [price] : [price, longPrice];
  return tier ? both.flatMap((each) => offeredPrices(each, tier).map((of) => fillApart(of, each))) : both;
}

/** The most that the units of a request may cost. Throws `unpriced_field` for an image without a price. */
function dearestUnits(unit: UnitPrice, { units }: RequestHead): bigint {
  if (!units) return 0n;
  const path = units.unpriced ?? findUnpriced(unit, units);
  if (path !== undefined) throw new GatewayError("unpriced_field", { path });
  return BigInt(units.held) * dearestUnit(unit, units);
}
