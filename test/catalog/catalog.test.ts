import { describe, expect, test } from "bun:test";
import { createCatalog, readPrice } from "../../src/catalog/catalog.ts";
import { DEMO_MODEL } from "../../src/demo/demo-model.ts";

describe("createCatalog", () => {
  const models = ["b", "a", "constructor/x"].map((id) => ({ ...DEMO_MODEL, id }));
  const catalog = createCatalog(models);

  test("models are found by their whole id only", () => {
    expect(catalog.find("constructor/x")).toBe(models[2] ?? DEMO_MODEL);
    for (const id of ["", "A", "a ", "constructor", "__proto__", "toString"]) {
      expect(catalog.find(id)).toBeUndefined();
    }
  });

  test("models are listed in the operator's order", () => {
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
  ])("input %p defaults cached %p, written %p and written for an hour %p", (input, cached, written, hour) => {
    const price = readPrice({ input, output: "1" });
    expect(price).toMatchObject({ cachedInput: cached, cacheWrite: written, cacheWrite1h: hour });
  });

  test("what is given stays, also when it is zero", () => {
    const texts = { input: "3", output: "15", cached_input: "0", cache_write: "0", cache_write_1h: "0.5" };
    expect(readPrice(texts)).toMatchObject({ cachedInput: 0n, cacheWrite: 0n, cacheWrite1h: 500_000n });
  });
});
