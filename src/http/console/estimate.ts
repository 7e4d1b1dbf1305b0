import type { Model, Price } from "../../domain/model.ts";
import { costOf } from "../../domain/model.ts";
import { type Nanos, type PicosPerToken, printPrice, printUsd } from "../../domain/money.ts";
import { NO_USAGE, type Usage } from "../../domain/usage.ts";
import { amountOf, priceOf, quoteRequest } from "../../gateway/quote.ts";
import { planOf } from "./small-request.ts";

/** Bytes of ordinary text per token. */
const BYTES_PER_TOKEN = 4;
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
  readonly class: "input" | "output";
  readonly tokens: number;
  readonly price: string;
  readonly amount_usd: string;
}

export interface Estimate {
  readonly cost_usd: string;
  readonly hold_usd: string;
  readonly lines: EstimateLine[];
  readonly rounding_usd: string;
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
    cost_usd: printUsd(cost),
    hold_usd: printUsd(amountOf(quote, quote.outputTokensMax)),
    lines: [input.line, ...(model.outputTokensMax === 0 ? [] : [output.line])],
    rounding_usd: printUsd(cost - input.amount - output.amount),
  };
}

function priceAt(model: Model, quote: ReturnType<typeof quoteRequest>, usage: Usage): Price {
  const [route] = model.routes;
  return route ? priceOf(quote, { route, codec: { isPassthrough: true } }, usage) : model.price;
}

function lineOf(
  name: EstimateLine["class"],
  tokens: number,
  price: PicosPerToken,
): { readonly line: EstimateLine; readonly amount: Nanos } {
  const amount = (BigInt(tokens) * price) / PICOS_PER_NANO;
  return { line: { class: name, tokens, price: printPrice(price), amount_usd: printUsd(amount) }, amount };
}
