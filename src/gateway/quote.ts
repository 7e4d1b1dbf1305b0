import { dearestInput, type Model, type Route } from "../domain/model.ts";
import { type Nanos, nanosToPicos, type PicosPerToken, picosToNanos } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import type { AnswerReader } from "../wire/dialogue.ts";
import type { InputSize, RequestFacts } from "../wire/wire-protocol.ts";

/** A ceiling of ours is never lowered below this many tokens, reasoning aside. */
const OUTPUT_TOKENS_MIN = 256;
/** No tokenizer makes more tokens of ordinary text than one for every two bytes. */
const BYTES_PER_TOKEN_MIN = 2;
/** Of ordinary text it is about this. */
const BYTES_PER_TOKEN_USUAL = 4;

/** The most a request may cost, and how far that may be lowered. */
export interface Quote {
  readonly model: Model;
  readonly request: RequestFacts;
  /** Those of the model's routes that can answer this request, and how the answers of each are read; never empty. */
  readonly ways: ReadonlyMap<Route, AnswerReader>;
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
  /** Whether the client's own output limit may be lowered too. */
  readonly mayClamp: boolean;
}

/** Bounds a request without reading its text: this runs before anything is paid. */
export function quoteRequest({ model, ways, request, mayClamp }: QuoteOptions): Quote {
  const ceiling = ceilingOf(model, request);
  const mayLower = mayClamp || request.outputTokensMax === undefined;
  const floor = mayLower ? Math.min(leastOutput(request), ceiling) : ceiling;
  const prices = dearestPrices([...ways.keys()]);
  const isServed = request.input.serverTools && [...ways.values()].some(({ isVerbatim }) => isVerbatim);
  const size = { ...request.input, unbounded: request.input.unbounded || isServed };
  return { model, request, ways, prices, inputTokens: boundInput(model, size), ceiling, floor };
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
  const inputTokens = boundInput(quote.model, { ...quote.request.input, textBytes });
  return { ...quote, inputTokens: Math.max(inputTokens, quote.inputTokens) };
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

/** The most input that the model can have read: each prompt may fill the context window. */
export function inputTokensMaxOf({ model, request }: Pick<Quote, "model" | "request">): number {
  return windowsOf(model, request.input);
}

function boundInput(model: Model, input: InputSize): number {
  const most = windowsOf(model, input);
  if (input.unbounded) return most;
  const text = Math.ceil(input.textBytes / BYTES_PER_TOKEN_MIN);
  return Math.min(text + input.images * model.imageTokens, most);
}

function windowsOf(model: Model, { prompts = 1 }: InputSize): number {
  return model.contextWindow * prompts;
}

function dearestPrices(routes: readonly Route[]): Quote["prices"] {
  let input = 0n;
  let output = 0n;
  for (const { price } of routes) {
    const dearest = dearestInput(price);
    if (dearest > input) input = dearest;
    if (price.output > output) output = price.output;
  }
  return { input, output };
}
