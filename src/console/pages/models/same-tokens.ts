import { type Nanos, parseUsd } from "../../../domain/money.ts";

const TOKENS_PER_PRICE = 1_000_000n;

/** The prices of a model, in USD per million tokens. */
interface PricedModel {
  readonly id: string;
  readonly max_output_tokens: number;
  readonly price: { readonly input: string; readonly output: string };
}

export interface SameTokens {
  readonly id: string;
  readonly cost: Nanos;
}

/** The cost of the same tokens at the prices of each model that answers chats, the cheapest first. */
export function priceEach(
  models: readonly PricedModel[],
  tokens: { readonly input: number; readonly output: number },
): readonly SameTokens[] {
  return models
    .filter(({ max_output_tokens }) => max_output_tokens > 0)
    .map(({ id, price }) => ({
      id,
      cost: roundUp(
        BigInt(tokens.input) * parseUsd(price.input) + BigInt(tokens.output) * parseUsd(price.output),
      ),
    }))
    .sort((a, b) => (a.cost < b.cost ? -1 : a.cost > b.cost ? 1 : 0));
}

function roundUp(amount: bigint): Nanos {
  return (amount + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE;
}
