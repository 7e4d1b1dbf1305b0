import { describe, expect, test } from "bun:test";
import { createCatalog, readPrice, readTraits } from "../../src/catalog/catalog.ts";
import { DEMO_MODEL } from "../../src/demo/demo-model.ts";

describe("a catalog", () => {
  const models = ["b", "a", "constructor/x"].map((id) => ({ ...DEMO_MODEL, id }));
  const catalog = createCatalog(models);

  test("finds models by their exact id only", () => {
    expect(catalog.find("constructor/x")).toBe(models[2] ?? DEMO_MODEL);
    for (const id of ["", "A", "a ", "constructor", "__proto__", "toString"]) {
      expect(catalog.find(id)).toBeUndefined();
    }
  });

  test("lists models in the order of the configuration", () => {
    expect(catalog.list().map(({ id }) => id)).toEqual(["b", "a", "constructor/x"]);
  });
});

describe("readPrice", () => {
  test.each([
    ["0.000001", 1n, 2n, 2n],
    ["0.000003", 3n, 4n, 6n],
    ["0.000004", 4n, 5n, 8n],
    ["3.00", 3_000_000n, 3_750_000n, 6_000_000n],
    ["0", 0n, 0n, 0n],
  ])(
    "with input %p defaults to cached input %p, cache write %p and one-hour cache write %p",
    (input, cached, written, hour) => {
      const price = readPrice({ input, output: "1" });
      expect(price).toMatchObject({ cachedInput: cached, cacheWrite: written, cacheWrite1h: hour });
    },
  );

  test("keeps configured prices, even of zero", () => {
    const texts = { input: "3", output: "15", cached_input: "0", cache_write: "0", cache_write_1h: "0.5" };
    expect(readPrice(texts)).toMatchObject({ cachedInput: 0n, cacheWrite: 0n, cacheWrite1h: 500_000n });
  });
});

describe("readTraits", () => {
  test.each([
    ["claude-3-5-sonnet-20241022", "none", true],
    ["claude-3-haiku-20240307", "none", true],
    ["claude-3-7-sonnet-20250219", "budget", true],
    ["claude-sonnet-4-20250514", "budget", true],
    ["claude-opus-4-1-20250805", "budget", true],
    ["claude-sonnet-4-5-20250929", "budget", true],
    ["anthropic.claude-haiku-4-5-20251001-v1:0", "budget", true],
    ["claude-opus-4-6", "adaptive", true],
    ["claude-opus-4-7", "adaptive", false],
    ["claude-sonnet-5", "adaptive", false],
    ["claude-opus-4.6", "adaptive", true],
    ["claude-opus-4.7", "adaptive", false],
    ["claude-opus-4-10", "adaptive", false],
    ["claude-opus-4-6-20260105", "adaptive", true],
    ["anthropic/claude-3.7-sonnet:thinking", "budget", true],
    ["claude-3-7-sonnet-latest", "budget", true],
    ["claude-haiku-4-5-latest", "budget", true],
    ["anthropic/claude-sonnet-4.5", "budget", true],
    ["anthropic/claude-opus-4.1:beta", "budget", true],
    ["claude-sonnet-4", "budget", true],
    ["claude-sonnet-4@20250514", "budget", true],
    ["anthropic/claude-3.5-haiku", "none", true],
    ["anthropic.claude-v2:1", "none", true],
    ["gpt-4.1-mini-2025-04-14", "none", true],
    ["gpt-5-mini", "effort", false],
    ["gpt-5.1-codex", "effort", false],
    ["openai/gpt-5.2", "effort", false],
    ["gpt-5-chat-latest", "none", true],
    ["o3-mini", "effort", false],
    ["openai/gpt-oss-120b", "effort", true],
    ["deepseek-chat", "none", true],
    ["llama-3.3-70b-versatile", "none", true],
  ] as const)("gives %s reasoning %s and sampling %p", (name, reasoning, sampling) => {
    expect(readTraits(name, {})).toEqual({ reasoning, sampling });
  });

  test("keeps configured traits", () => {
    expect(readTraits("gpt-5", { reasoning: "none", sampling: true })).toEqual({
      reasoning: "none",
      sampling: true,
    });
    expect(readTraits("mine", { reasoning: "effort" })).toEqual({ reasoning: "effort", sampling: true });
  });
});
