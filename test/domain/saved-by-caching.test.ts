import { expect, test } from "bun:test";
import fc from "fast-check";
import { costOf, savedByCaching } from "../../src/domain/model.ts";
import { NO_USAGE } from "../../src/domain/usage.ts";
import { priceOf, usageOf } from "./arbitraries.ts";

const tokens = fc.oneof(fc.constant(0), fc.nat({ max: 2_000_000 }));
const usage = usageOf(tokens);
const price = priceOf(fc.bigInt({ min: 0n, max: 200_000_000n }));

test("prompt caching saves what cached tokens were cheaper, less what written tokens were dearer", () => {
  fc.assert(
    fc.property(usage, price, (used, of) => {
      const saved =
        BigInt(used.cachedInputTokens) * (of.input - of.cachedInput) -
        BigInt(used.cacheWriteTokens) * (of.cacheWrite - of.input) -
        BigInt(used.cacheWrite1hTokens) * (of.cacheWrite1h - of.input);
      const difference = savedByCaching(used, of) * 1_000n - saved;
      expect(difference > -1_000n && difference < 1_000n).toBe(true);
      expect(costOf(used, of) + savedByCaching(used, of)).toBeGreaterThanOrEqual(0n);
    }),
    { numRuns: 300 },
  );
});

test("prompt caching saves nothing of an answer without a cache", () => {
  fc.assert(
    fc.property(tokens, tokens, price, (inputTokens, outputTokens, of) => {
      expect(savedByCaching({ ...NO_USAGE, inputTokens, outputTokens }, of)).toBe(0n);
    }),
    { numRuns: 50 },
  );
});
