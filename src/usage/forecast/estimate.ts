import type { Caller } from "../../accounts/keys/key.ts";
import { costOf, type Model, type Price } from "../../domain/model.ts";
import { formatExact, type Nanos, type PicosPerToken } from "../../domain/money.ts";
import { BYTES_PER_TOKEN, NO_USAGE, type Usage } from "../../domain/usage.ts";
import { priceOf } from "../../gateway/answer-prices.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { mayUse } from "../../gateway/plan.ts";
import { amountOf, type QuotedPlan, quoteRequest, tokensOf } from "../../gateway/quote.ts";

const PICOS_PER_NANO = 1_000n;

/** The size of a request whose cost is estimated. */
export interface EstimatedRequest {
  readonly inputTokens: number;
  /** Bytes of its text. Default: those of ordinary text with its tokens. */
  readonly textBytes: number | undefined;
  /** Default: the model's own, and at most its limit. */
  readonly outputTokens: number | undefined;
}

interface EstimateLine {
  readonly name: "input" | "output";
  readonly tokens: number;
  readonly price: PicosPerToken;
  readonly amount: Nanos;
}

export interface Estimate {
  readonly cost: Nanos;
  readonly hold: Nanos;
  readonly lines: readonly EstimateLine[];
  readonly rounding: Nanos;
}

/**
 * Estimates the cost of a request at the price of the model's first route, and what would be held for it:
 * tokens × price per class, each rounded down, plus the rounding up of the whole, is the cost to the nano.
 */
export function estimateCost(model: Model, request: EstimatedRequest): Estimate {
  const { inputTokens, textBytes = inputTokens * BYTES_PER_TOKEN } = request;
  const quote = quoteRequest(planOf(model, { textBytes, outputTokensMax: request.outputTokens }));
  const usage = { ...NO_USAGE, inputTokens, outputTokens: quote.outputTokensMax };
  const price = priceAt(model, quote, usage);
  const cost = costOf(usage, price);
  const input = lineOf("input", inputTokens, price.input);
  const output = lineOf("output", usage.outputTokens, price.output);
  return {
    cost,
    hold: amountOf(quote, quote.outputTokensMax),
    lines: [input, ...(model.outputTokensMax === 0 ? [] : [output])],
    rounding: cost - input.amount - output.amount,
  };
}

function priceAt(model: Model, quote: ReturnType<typeof quoteRequest>, usage: Usage): Price {
  const [route] = model.routes;
  return route ? priceOf(quote, { route, codec: { isPassthrough: true } }, usage) : model.price;
}

function lineOf(name: EstimateLine["name"], tokens: number, price: PicosPerToken): EstimateLine {
  return { name, tokens, price, amount: (BigInt(tokens) * price) / PICOS_PER_NANO };
}

/** Bytes of the body of a small request: a question of three sentences. */
const SMALL_TEXT_BYTES = 400;
const SMALL_OUTPUT_TOKENS = 256;

/** A short question to the cheapest model of a key: what the console measures limits with. */
export interface SmallRequest {
  readonly model: string;
  /** What a tokens-per-minute limit counts at its admission. */
  readonly tokens: number;
  /** What is held for it. */
  readonly amount: Nanos;
  /** Its size in words. */
  readonly text: string;
}

/** Finds the cheapest small request of a key; `undefined` when it may use no model of the catalog. */
export type FindSmallRequest = (key: Caller["key"]) => SmallRequest | undefined;

/** Quotes a small request to each model, once for all keys of an answer. */
export function quoteSmallRequests(gateway: Pick<Gateway, "catalog">): FindSmallRequest {
  const cheapestFirst = quoteEach(gateway);
  return (key) => cheapestFirst.find(({ model }) => mayUse(key, model));
}

/** The cheapest small request that costs something, or one that is free where all models are. */
export function quoteSmallPriced(gateway: Pick<Gateway, "catalog">): SmallRequest | undefined {
  const cheapestFirst = quoteEach(gateway);
  return cheapestFirst.find(({ amount }) => amount > 0n) ?? cheapestFirst[0];
}

function quoteEach({ catalog }: Pick<Gateway, "catalog">): readonly SmallRequest[] {
  return catalog
    .list()
    .map(quoteSmall)
    .sort((one, other) => (one.amount < other.amount ? -1 : Number(one.amount > other.amount)));
}

function quoteSmall(model: Model): SmallRequest {
  const outputTokensMax = Math.min(SMALL_OUTPUT_TOKENS, model.outputTokensMax);
  const quote = quoteRequest(planOf(model, { textBytes: SMALL_TEXT_BYTES, outputTokensMax }));
  const amount = amountOf(quote, quote.outputTokensMax);
  const size = `${quote.inputTokens} input and ${quote.outputTokensMax} output tokens`;
  return {
    model: model.id,
    tokens: tokensOf(quote),
    amount,
    text: `a short request to ${model.id} (${size}, ${formatExact(amount)})`,
  };
}

/** The plan of a plain request with text of a given size, in the model's own format. */
function planOf(
  model: Model,
  {
    textBytes,
    outputTokensMax,
  }: { readonly textBytes: number; readonly outputTokensMax: number | undefined },
): QuotedPlan {
  return {
    model,
    candidates: model.routes.map((route) => ({ route, codec: { isPassthrough: true } })),
    textBytes: 0,
    mayClamp: false,
    request: {
      model: model.id,
      stream: true,
      outputTokensMax,
      outputLimitField: undefined,
      thinkingTokens: 0,
      choices: 1,
      wantsUsage: false,
      input: { textBytes, mediaBytes: 0, images: 0, unbounded: false, serverTools: false },
    },
  };
}
