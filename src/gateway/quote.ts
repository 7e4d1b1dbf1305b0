import { dearestInput, longCostOf, type Model, type Price, type RoutePrices } from "../domain/model.ts";
import { type Nanos, nanosToPicos, type PicosPerToken, picosToNanos } from "../domain/money.ts";
import { answeredUnit, dearestUnit, findUnpriced, type UnitKind, type UnitPrice } from "../domain/units.ts";
import { inputTokensOf, NO_USAGE, type Usage, type UsageBound } from "../domain/usage.ts";
import { GatewayError } from "../errors.ts";
import type { RequestTrace } from "../telemetry/request-trace.ts";
import { windowOfBetas } from "../wire/anthropic-messages/betas.ts";
import type { InputSize, RequestFacts } from "../wire/model-request.ts";
import type { Candidate, Plan, Quote } from "./request.ts";

/**
 * An output limit that the client did not set is never lowered below this many tokens beside its reasoning.
 */
const OUTPUT_TOKENS_MIN = 256;
/** No tokenizer makes more than one token of every two bytes of ordinary text. */
const BYTES_PER_TOKEN_MIN = 2;
/** Average of ordinary text. */
const BYTES_PER_TOKEN_USUAL = 4;
/** A tenth more output than the limit is accepted as the provider's way of counting. */
const OUTPUT_TOLERANCE = 10;
/** A tool loop at a provider reads its prompt dozens of times. A report above this bound is wrong. */
const READINGS_MAX = 1_000;

/** As much of a candidate as its price depends on. */
export type PricedCandidate = Pick<Candidate, "route"> & {
  readonly codec: Pick<Candidate["codec"], "isPassthrough">;
};

/** As much of a plan as its quote depends on. */
export interface QuotedPlan extends Omit<Plan, "candidates"> {
  readonly candidates: readonly PricedCandidate[];
}

/** Bounds the cost of a request without reading its text, in constant time. */
export function quoteRequest(plan: QuotedPlan, trace?: RequestTrace): Quote {
  trace?.enter("quote");
  const { model, request, candidates, betas } = plan;
  const outputTokensMax = outputTokensMaxOf(model, request);
  const mayLower = mayLowerOutput(plan);
  const outputTokensMin = mayLower ? Math.min(leastOutput(request), outputTokensMax) : outputTokensMax;
  const contextWindow = widestWindow(plan, candidates);
  const inputTokens = boundInput(plan, contextWindow);
  const prices = highestPrices(plan, contextWindow, inputTokens);
  trace?.note({ inputTokensMax: inputTokens, outputTokensMax });
  return { model, request, betas, contextWindow, prices, inputTokens, outputTokensMax, outputTokensMin };
}

function mayLowerOutput({ mayClamp, request }: QuotedPlan): boolean {
  return request.outputTokensBound === undefined && (mayClamp || request.outputTokensMax === undefined);
}

/** The output limit that a request asks for, or its model's default, within the model's limit. */
export function outputTokensMaxOf(model: Model, request: RequestFacts): number {
  if (request.outputTokensBound === "model") return model.outputTokensMax + (request.outputTokensExtra ?? 0);
  const wanted = request.outputTokensMax ?? Math.max(model.outputTokensDefault, leastOutput(request));
  return Math.min(wanted, model.outputTokensMax);
}

function leastOutput({ thinkingTokens }: RequestFacts): number {
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
  return Math.min(inputTokens, Math.ceil(request.input.textBytes / BYTES_PER_TOKEN_USUAL));
}

/** The units that are charged where an answer reports none. */
export function usualUnitsOf({ units }: RequestFacts): number {
  return units ? (units.usual ?? units.held) : 0;
}

/** Most answers are shorter than their limit; 500 tokens are a page of text. */
const OUTPUT_TOKENS_USUAL = 500;

/**
 * Returns the upstream cost of a usual answer on a candidate, or its price where the cost is unknown, in
 * pico-USD: to compare routes, not to charge.
 */
export function expectedCostOf(quote: Quote, candidate: PricedCandidate): number {
  const inputTokens = estimateInputTokens(quote);
  const outputTokens = Math.min(totalOutputMaxOf(quote), OUTPUT_TOKENS_USUAL * quote.request.choices);
  const { price, cost = price } = pricesOf(quote, candidate, { ...NO_USAGE, inputTokens, outputTokens });
  const ofUnits = cost.unit ? usualUnitsOf(quote.request) * Number(cost.unit.picos) : 0;
  return inputTokens * Number(cost.input) + outputTokens * Number(cost.output) + ofUnits;
}

/**
 * The most tokens and units that an honest answer of a candidate reports: a full context window for each prompt, and a
 * tenth more output than the limit. Both are multiplied where the provider may read the prompt again and
 * again.
 */
export function usageBoundOf(quote: Quote, candidate: PricedCandidate): UsageBound {
  const { input } = quote.request;
  const readings = candidate.codec.isPassthrough ? readingsOf(input) : 1;
  const outputTokens = totalOutputMaxOf(quote);
  const { units } = quote.request;
  return {
    units: units?.held,
    inputTokens: readings * (input.prompts ?? 1) * windowOn(quote, candidate),
    outputTokens: readings * (outputTokens + Math.floor(outputTokens / OUTPUT_TOLERANCE)),
  };
}

/**
 * The prices of a candidate's answer: the route's long price when the usage is above the model's threshold,
 * and the price of the images that the answer reports.
 */
export function priceOf(quote: Quote, candidate: PricedCandidate, usage: Usage): Price {
  return pricesOf(quote, candidate, usage).price;
}

/** The prices of a candidate's answer, see {@link priceOf}, with their upstream cost. */
export function pricesOf(
  quote: Quote,
  candidate: PricedCandidate,
  usage: Usage,
): Pick<RoutePrices, "price" | "cost"> {
  const { route } = candidate;
  if (route.price.unit) return unitPricesOf(quote, route, usage);
  if (!route.longPrice && !route.longCost) return route;
  if (!isLongContext(quote.model, inputTokensOf(usage), windowOn(quote, candidate))) return route;
  return { price: route.longPrice ?? route.price, cost: longCostOf(route) };
}

/** The prices of the units that an answer reports. The cost of an image is unknown when its kind has none. */
function unitPricesOf(
  { request }: Quote,
  { price, cost }: RoutePrices,
  { unitKind }: Usage,
): Pick<RoutePrices, "price" | "cost"> {
  const units: UnitKind = request.units ?? {};
  const answered = (each: Price) => each.unit && { ...each, unit: answeredUnit(each.unit, units, unitKind) };
  const isCostKnown = cost?.unit && findUnpriced(cost.unit, units) === undefined;
  return { price: answered(price) ?? price, cost: isCostKnown ? answered(cost) : undefined };
}

/** Whether the long-context price applies. Input above the window sums several readings; it counts as one. */
function isLongContext({ longContext }: Model, inputTokens: number, contextWindow: number): boolean {
  if (!longContext) return false;
  return Math.min(inputTokens, contextWindow) > longContext.aboveInputTokens;
}

/** The context window of a request on a candidate. Betas are sent only where the body passes through. */
function windowOn(
  { model, betas }: Pick<Quote, "model" | "betas">,
  { route, codec }: PricedCandidate,
): number {
  if (betas.length === 0 || !codec.isPassthrough) return model.contextWindow;
  const opened = windowOfBetas(betas, route.betas);
  const widened = opened > 0 ? (model.longContext?.contextWindow ?? opened) : 0;
  return Math.max(model.contextWindow, widened);
}

function widestWindow(
  request: Pick<Quote, "model" | "betas">,
  candidates: readonly PricedCandidate[],
): number {
  let widest = request.model.contextWindow;
  for (const candidate of candidates) widest = Math.max(widest, windowOn(request, candidate));
  return widest;
}

/** How often an upstream may read the prompt for one answer. */
function readingsOf({ serverTools, readings = 1 }: InputSize): number {
  return serverTools ? READINGS_MAX : readings;
}

/** Upper bound of the input tokens, by the larger of the client's body and the largest translated body. */
function boundInput(plan: QuotedPlan, contextWindow: number): number {
  const { model, request, candidates } = plan;
  const { images, unbounded, serverTools, prompts = 1, readings = 1 } = request.input;
  const isPassthrough = (serverTools || readings > 1) && candidates.some(({ codec }) => codec.isPassthrough);
  const inputTokensMax = contextWindow * prompts;
  // The tokens of a model that is priced by unit count against limits only.
  const fillsWindow = unbounded && !model.price.unit;
  if (fillsWindow || (serverTools && isPassthrough)) return inputTokensMax;
  const text = Math.ceil(Math.max(request.input.textBytes, plan.textBytes) / BYTES_PER_TOKEN_MIN);
  return Math.min(text + images * model.imageTokens, inputTokensMax) * (isPassthrough ? readings : 1);
}

function highestPrices(plan: QuotedPlan, contextWindow: number, inputTokens: number): Quote["prices"] {
  const isLong = isLongContext(plan.model, inputTokens, contextWindow);
  let input: PicosPerToken = 0n;
  let output: PicosPerToken = 0n;
  let units = 0n;
  for (const { route } of plan.candidates) {
    const { price, longPrice = price } = route;
    if (price.unit) units = larger(units, dearestUnits(price.unit, plan.request));
    input = larger(input, dearestInput(price));
    output = larger(output, price.output);
    if (isLong) {
      input = larger(input, dearestInput(longPrice));
      output = larger(output, longPrice.output);
    }
  }
  return { input, output, units };
}

/** The most that the units of a request may cost. Throws `unpriced_field` for an image without a price. */
function dearestUnits(unit: UnitPrice, { units }: RequestFacts): bigint {
  if (!units) return 0n;
  const path = units.unpriced ?? findUnpriced(unit, units);
  if (path !== undefined) throw new GatewayError("unpriced_field", { path });
  return BigInt(units.held) * dearestUnit(unit, units);
}

function larger(one: PicosPerToken, other: PicosPerToken): PicosPerToken {
  return one > other ? one : other;
}
