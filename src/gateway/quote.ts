import { dearestInput, type Model, type Price, type Route } from "../domain/model.ts";
import { type Nanos, nanosToPicos, type PicosPerToken, picosToNanos } from "../domain/money.ts";
import { inputTokensOf, type Usage, type UsageBound } from "../domain/usage.ts";
import { GatewayError } from "../errors.ts";
import { windowOfBetas } from "../wire/anthropic-messages/betas.ts";
import type { AnswerReader } from "../wire/codec-session.ts";
import type { InputSize, RequestFacts } from "../wire/model-request.ts";

/** A ceiling of ours is never lowered below this many tokens, reasoning aside. */
const OUTPUT_TOKENS_MIN = 256;
/** No tokenizer makes more tokens of ordinary text than one for every two bytes. */
const BYTES_PER_TOKEN_MIN = 2;
/** Of ordinary text it is about this. */
const BYTES_PER_TOKEN_USUAL = 4;
/** A tenth more output than the ceiling is put down to a provider's way of counting. */
const OUTPUT_TOLERANCE = 10;
/** A loop of tools at a provider reads its prompt dozens of times; above this a report is a fault. */
const READINGS_MAX = 1_000;
const NO_BETAS: readonly string[] = [];

/** The most a request may cost, and how far that may be lowered. */
export interface Quote {
  readonly model: Model;
  readonly request: RequestFacts;
  /** Those of the model's routes that can answer this request, and how the answers of each are read; never empty. */
  readonly ways: ReadonlyMap<Route, AnswerReader>;
  /** Anthropic's betas that the client asks for, whether or not a route allows them. */
  readonly betas: readonly string[];
  /** Most tokens of one prompt and its answer: the model's, or more under a beta that some route allows. */
  readonly contextWindow: number;
  /** The dearest among the routes. */
  readonly prices: { readonly input: PicosPerToken; readonly output: PicosPerToken };
  /** Upper bound of the input. */
  readonly inputTokens: number;
  /** Output limit that is sent upstream, for each of the request's choices. */
  readonly ceiling: number;
  /** The least the ceiling may be lowered to; the ceiling itself when it may not be. */
  readonly floor: number;
}

export interface QuoteOptions {
  readonly model: Model;
  readonly ways: ReadonlyMap<Route, AnswerReader>;
  readonly request: RequestFacts;
  readonly betas?: readonly string[];
  /** Whether the client's own output limit may be lowered too. */
  readonly mayClamp: boolean;
}

/** Bounds a request without reading its text: this runs before anything is paid. */
export function quoteRequest({ model, ways, request, betas = NO_BETAS, mayClamp }: QuoteOptions): Quote {
  const ceiling = ceilingOf(model, request);
  const mayLower = mayClamp || request.outputTokensMax === undefined;
  const floor = mayLower ? Math.min(leastOutput(request), ceiling) : ceiling;
  const contextWindow = Math.max(...[...ways.keys()].map((route) => windowOn({ model, ways, betas }, route)));
  const inputTokens = boundInput({ model, ways, contextWindow }, request.input);
  const prices = dearestPrices({ model, ways, contextWindow }, inputTokens);
  return { model, request, ways, betas, contextWindow, prices, inputTokens, ceiling, floor };
}

/** The output limit that a request asks for, within the model's. */
export function ceilingOf(model: Model, request: RequestFacts): number {
  const wanted = request.outputTokensMax ?? Math.max(model.outputTokensDefault, leastOutput(request));
  return Math.min(wanted, model.outputTokensMax);
}

function leastOutput({ thinkingTokens }: RequestFacts): number {
  return thinkingTokens + OUTPUT_TOKENS_MIN;
}

/** The same for bodies that translation makes larger: an upstream counts what it is sent. */
export function fitText(quote: Quote, textBytes: number): Quote {
  if (textBytes <= quote.request.input.textBytes) return quote;
  const bound = boundInput(quote, { ...quote.request.input, textBytes });
  const inputTokens = Math.max(bound, quote.inputTokens);
  return { ...quote, inputTokens, prices: dearestPrices(quote, inputTokens) };
}

/** What a quote comes to with a given ceiling, over the dearest route. */
export function amountOf({ prices, inputTokens, request }: Quote, ceiling: number): Nanos {
  return picosToNanos(
    BigInt(inputTokens) * prices.input + BigInt(request.choices) * BigInt(ceiling) * prices.output,
  );
}

/** Input bound plus every output token that may come: what a tokens-per-minute limit takes. */
export function tokensOf(quote: Quote): number {
  return quote.inputTokens + outputTokensMaxOf(quote);
}

/** Every output token that the upstream is allowed, over all choices. */
export function outputTokensMaxOf(quote: Quote): number {
  return quote.request.choices * quote.ceiling;
}

/**
 * Fits a request into what a minute can admit at all, by lowering a ceiling that may be lowered.
 * Throws `too_many_tokens`, because no waiting would help.
 */
export function fitMinute(quote: Quote, tokensPerMinute: number): Quote {
  if (tokensOf(quote) <= tokensPerMinute) return quote;
  const ceiling = Math.floor((tokensPerMinute - quote.inputTokens) / quote.request.choices);
  if (ceiling < quote.floor) throw new GatewayError("too_many_tokens");
  return { ...quote, ceiling };
}

/** Lowers the ceiling to what the granted part of the quote pays for. */
export function fitGrant(quote: Quote, granted: Nanos): Quote {
  if (granted >= amountOf(quote, quote.ceiling)) return quote;
  const forOutput = nanosToPicos(granted - amountOf(quote, 0));
  const affordable = forOutput / (quote.prices.output * BigInt(quote.request.choices));
  return { ...quote, ceiling: Math.max(quote.floor, Number(affordable)) };
}

/** About how large the input is; nobody pays by it. */
export function guessInput({ request, inputTokens }: Quote): number {
  return Math.min(inputTokens, Math.ceil(request.input.textBytes / BYTES_PER_TOKEN_USUAL));
}

/**
 * The most that a route's answer is expected to use: each prompt may fill the context window, and the output may be a
 * tenth above its ceiling; many times that where the provider reads the prompt again and again.
 */
export function usageBoundOf(quote: Quote, route: Route): UsageBound {
  const { input } = quote.request;
  const readings = quote.ways.get(route)?.isPassthrough ? readingsOf(input) : 1;
  const outputTokensMax = outputTokensMaxOf(quote);
  return {
    inputTokens: readings * (input.prompts ?? 1) * windowOn(quote, route),
    outputTokens: readings * (outputTokensMax + Math.floor(outputTokensMax / OUTPUT_TOLERANCE)),
  };
}

/** What a route's tokens cost in an answer with this usage. */
export function priceOf(quote: Quote, route: Route, usage: Usage): Price {
  if (!route.longPrice) return route.price;
  const isLong = isLongContext(quote.model, inputTokensOf(usage), windowOn(quote, route));
  return isLong ? route.longPrice : route.price;
}

/** A sum over many readings can be above the bound although none of them was: the window tells. */
function isLongContext({ longContext }: Model, inputTokens: number, contextWindow: number): boolean {
  if (!longContext) return false;
  return Math.min(inputTokens, contextWindow) > longContext.aboveInputTokens;
}

/** The window that a request has on a route. Betas are sent only where its body passes as it is. */
function windowOn({ model, ways, betas }: Pick<Quote, "model" | "ways" | "betas">, route: Route): number {
  if (betas.length === 0 || !ways.get(route)?.isPassthrough) return model.contextWindow;
  const opened = windowOfBetas(betas, route.betas);
  const widened = opened > 0 ? (model.longContext?.contextWindow ?? opened) : 0;
  return Math.max(model.contextWindow, widened);
}

/** How often an upstream may read the prompt for one answer. */
function readingsOf({ serverTools, readings = 1 }: InputSize): number {
  return serverTools ? READINGS_MAX : readings;
}

function boundInput(
  { model, ways, contextWindow }: Pick<Quote, "model" | "ways" | "contextWindow">,
  { textBytes, images, unbounded, serverTools, prompts = 1, readings = 1 }: InputSize,
): number {
  const isPassthrough = (serverTools || readings > 1) && [...ways.values()].some((way) => way.isPassthrough);
  const most = contextWindow * prompts;
  if (unbounded || (serverTools && isPassthrough)) return most;
  const text = Math.ceil(textBytes / BYTES_PER_TOKEN_MIN);
  return Math.min(text + images * model.imageTokens, most) * (isPassthrough ? readings : 1);
}

function dearestPrices(
  { model, ways, contextWindow }: Pick<Quote, "model" | "ways" | "contextWindow">,
  inputTokens: number,
): Quote["prices"] {
  const isLong = isLongContext(model, inputTokens, contextWindow);
  let input = 0n;
  let output = 0n;
  for (const { price, longPrice = price } of ways.keys()) {
    for (const each of isLong ? [price, longPrice] : [price]) {
      const dearest = dearestInput(each);
      if (dearest > input) input = dearest;
      if (each.output > output) output = each.output;
    }
  }
  return { input, output };
}
