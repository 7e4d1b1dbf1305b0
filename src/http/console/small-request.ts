import type { Caller } from "../../accounts/keys/key.ts";
import type { Model } from "../../domain/model.ts";
import { formatExact, type Nanos } from "../../domain/money.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { mayUse } from "../../gateway/plan.ts";
import { amountOf, type QuotedPlan, quoteRequest, tokensOf } from "../../gateway/quote.ts";

/** Bytes of the body of a small request: a question of three sentences. */
const TEXT_BYTES = 400;
const OUTPUT_TOKENS = 256;

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
  const outputTokensMax = Math.min(OUTPUT_TOKENS, model.outputTokensMax);
  const quote = quoteRequest(planOf(model, { textBytes: TEXT_BYTES, outputTokensMax }));
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
export function planOf(
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
    betas: [],
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
