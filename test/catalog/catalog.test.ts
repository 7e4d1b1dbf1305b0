import { describe, expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { readPrice } from "../../src/catalog/prices.ts";
import { readTraits } from "../../src/catalog/traits.ts";
import { DEMO_MODEL } from "../../src/demo/demo-model.ts";
import { parseMarkup, parsePrice } from "../../src/domain/money.ts";
import { scriptedModel, scriptedRoute, TEST_PRICE } from "../support/test-catalog.ts";

describe("a catalog", () => {
  const models = ["b", "a", "constructor/x"].map((id) => ({ ...DEMO_MODEL, id }));
  const catalog = createCatalog(models);

  test("finds models by their exact id only", () => {
    expect(catalog.find("constructor/x")).toBe(models[2] ?? DEMO_MODEL);
    for (const id of ["", "A", "a ", "constructor", "__proto__", "toString"]) {
      expect(catalog.find(id)).toBeUndefined();
    }
  });

  test("lists models in the order of the configuration", () =>
    expect(catalog.list().map(({ id }) => id)).toEqual(["b", "a", "constructor/x"]));

  test("replaces prices by a markup over the cost where it is known, and computes each once", () => {
    const cost = readPrice({ input: "2", output: "10" });
    const [known, unknown] = ["known", "unknown"].map((id) => scriptedModel(id, "openai"));
    if (!known || !unknown) throw new Error("There are no models");
    const longPrice = readPrice({ input: "9", output: "9" });
    const routes = [
      ...known.routes,
      scriptedRoute("b", "b", { cost, longPrice }),
      scriptedRoute("c", "c", { longCost: cost }),
    ];
    const priced = createCatalog([{ ...known, cost, routes }, unknown]);
    const markup = parseMarkup("1.5");
    const model = priced.find("known", markup);
    expect(model?.price.input).toBe(parsePrice("3"));
    expect(model?.routes.map(({ price }) => price.input)).toEqual([1_000_000n, 3_000_000n, 1_000_000n]);
    expect(model?.routes.map((route) => route.longPrice?.input)).toEqual([undefined, 9_000_000n, 3_000_000n]);
    expect(priced.find("unknown", markup)).toEqual(unknown);
    expect(priced.find("known", markup)).toBe(model ?? known);
    expect(priced.list(markup)[0]).toBe(model ?? known);
    expect(priced.find("none", markup)).toBeUndefined();
  });

  test("keeps the prices of the latest markups only", () => {
    const model = scriptedModel("m", "openai", { cost: TEST_PRICE });
    const priced = createCatalog([model]);
    const first = priced.find("m", 1n);
    for (let markup = 2n; markup <= 1_001n; markup += 1n) priced.find("m", markup);
    expect(priced.find("m", 1n)).toEqual(first ?? model);
    expect(priced.find("m", 1n)).not.toBe(first ?? model);
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
