import { describe, expect, test } from "bun:test";
import { parseBody } from "../../src/wire/request-body.ts";

describe("parseBody", () => {
  test("takes no more than a small multiple of JSON.parse for a list of nearly a million numbers", () => {
    const text = JSON.stringify({ input: Array(900_000).fill(0) });
    const parseMs = quickest(() => JSON.parse(text));
    // Everyone else waits while a body is looked at; copying such a list took a hundred times this.
    expect(quickest(() => parseBody(text))).toBeLessThan(20 * parseMs);
  });

  test.each([
    ['{"a":1,"a":2}', true],
    ['{"a":[{"b":1,"b":2}]}', true],
    ['{"a":{"b":1},"c":[{"b":1},{"b":2}]}', false],
  ])("sees whether a key is named twice in %s", (text, repeatsKeys) => {
    expect(parseBody(text).repeatsKeys).toBe(repeatsKeys);
  });
});

function quickest(work: () => void): number {
  const times = [1, 2, 3].map(() => {
    const startedAt = performance.now();
    work();
    return performance.now() - startedAt;
  });
  return Math.min(...times);
}
