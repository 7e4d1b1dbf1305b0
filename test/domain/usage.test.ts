import { expect, test } from "bun:test";
import { isCounted, NO_USAGE } from "../../src/domain/usage.ts";

test.each([
  [{}, true],
  [{ inputTokens: Number.MAX_SAFE_INTEGER }, true],
  [{ outputTokens: -1 }, false],
  [{ outputTokens: 0.5 }, false],
  [{ cachedInputTokens: Number.NaN }, false],
  [{ cacheWriteTokens: 2 ** 53 }, false],
  [{ inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: 1 }, false],
])("isCounted() of a usage with %j is %p", (tokens, expected) => {
  expect(isCounted({ ...NO_USAGE, ...tokens })).toBe(expected);
});
