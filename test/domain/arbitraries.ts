import fc from "fast-check";
import type { Price } from "../../src/domain/model.ts";
import type { Usage } from "../../src/domain/usage.ts";

/** Usage with this many tokens of each class. */
export function usageOf(tokens: fc.Arbitrary<number>): fc.Arbitrary<Usage> {
  return fc.record({
    inputTokens: tokens,
    cachedInputTokens: tokens,
    cacheWriteTokens: tokens,
    cacheWrite1hTokens: tokens,
    outputTokens: tokens,
  });
}

/** A price with this many picos a token of each class. */
export function priceOf(picos: fc.Arbitrary<bigint>): fc.Arbitrary<Price> {
  return fc.record({
    input: picos,
    output: picos,
    cachedInput: picos,
    cacheWrite: picos,
    cacheWrite1h: picos,
  });
}
