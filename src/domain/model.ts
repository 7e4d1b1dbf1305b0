import { type Nanos, type PicosPerToken, picosToNanos } from "./money.ts";
import type { InputClass, Usage } from "./usage.ts";

/** The two families of wire formats that an upstream can speak. */
export type Protocol = "openai" | "anthropic";

/** The wire formats by what receipts and logs call them: a client uses one, an upstream speaks one or several. */
export type Surface = "chat" | "messages" | "responses" | "embeddings";

/** What a model takes, for requests that are translated for it; others are its upstream's to judge. */
export interface ModelTraits {
  /** How it is told to reason: not at all, by an effort, or Anthropic's two ways. */
  readonly reasoning: "none" | "effort" | "budget" | "adaptive";
  /** Whether it takes a temperature and its like. */
  readonly sampling: boolean;
}

/** Prices per token of each class of {@link Usage}. */
export interface Price {
  readonly input: PicosPerToken;
  readonly output: PicosPerToken;
  readonly cachedInput: PicosPerToken;
  readonly cacheWrite: PicosPerToken;
  readonly cacheWrite1h: PicosPerToken;
}

/** One way to reach a model: an upstream, its own name for the model, and what it costs there. */
export interface Route {
  readonly upstream: string;
  readonly upstreamModel: string;
  /** Lower is tried first. */
  readonly priority: number;
  /** Share of the requests among routes of one priority, from 1. */
  readonly weight: number;
  readonly price: Price;
  /** The price of a request with more input than {@link LongContext.aboveInputTokens}; `undefined`: as `price`. */
  readonly longPrice?: Price | undefined;
  /** Anthropic's betas that change a price or the window and may be sent here; a `*` at the end stands for any rest. */
  readonly betas?: readonly string[] | undefined;
  readonly traits: ModelTraits;
}

/** What is different for requests with much input. */
export interface LongContext {
  /** Tokens of the window under a beta that widens it; `undefined` takes the number in the beta's name. */
  readonly contextWindow: number | undefined;
  /** From one token more on, a request has its route's long price. */
  readonly aboveInputTokens: number;
}

/** A model of the catalog, under the name that clients use. */
export interface Model {
  readonly id: string;
  /** Sorted by priority; never empty. */
  readonly routes: readonly Route[];
  /** Most tokens that input and output may have together; of embeddings, each prompt. */
  readonly contextWindow: number;
  readonly longContext?: LongContext | undefined;
  /** 0 for a model that only embeds. */
  readonly outputTokensMax: number;
  /** The ceiling that is sent for a request which names none. */
  readonly outputTokensDefault: number;
  /** Input tokens that one inline image is held for. */
  readonly imageTokens: number;
  /** What clients are shown; the price of a route may differ. */
  readonly price: Price;
  /** Unix seconds: when the operator's catalog began to offer it. */
  readonly createdAtS: number;
}

/** What an answer came to; rounds up once. */
export function costOf(usage: Usage, price: Price): Nanos {
  return picosToNanos(
    BigInt(usage.inputTokens) * price.input +
      BigInt(usage.cachedInputTokens) * price.cachedInput +
      BigInt(usage.cacheWriteTokens) * price.cacheWrite +
      BigInt(usage.cacheWrite1hTokens) * price.cacheWrite1h +
      BigInt(usage.outputTokens) * price.output,
  );
}

/** Input classes, the cheapest first; what costs the same stays in the order of {@link Usage}. */
export function cheapestFirst(price: Price): readonly InputClass[] {
  const prices: readonly (readonly [InputClass, PicosPerToken])[] = [
    ["inputTokens", price.input],
    ["cachedInputTokens", price.cachedInput],
    ["cacheWriteTokens", price.cacheWrite],
    ["cacheWrite1hTokens", price.cacheWrite1h],
  ];
  return prices.toSorted(([, one], [, other]) => Number(one - other)).map(([name]) => name);
}

/** The dearest price an input token can have on a route. */
export function dearestInput(price: Price): PicosPerToken {
  return [price.cachedInput, price.cacheWrite, price.cacheWrite1h].reduce(
    (dearest, each) => (each > dearest ? each : dearest),
    price.input,
  );
}
