import { describe, expect, test } from "bun:test";
import { readUnitPrice } from "../../src/catalog/prices.ts";
import { problemsOf } from "./temp-config.ts";

const UPSTREAMS = "upstreams: { up: { protocol: openai, api_key: k } }\n";
const modelOf = (lines: string) =>
  `${UPSTREAMS}models:\n  m:\n    routes: [ { upstream: up, model: theirs } ]\n    ${lines}\n`;

describe("a price by unit", () => {
  test.each([
    [{ search: "0.002" }, { name: "search", picos: 2_000_000_000n }],
    [{ image: "0.04" }, { name: "image", picos: 40_000_000_000n }],
    [{ million_characters: "15.00" }, { name: "character", picos: 15_000_000n }],
    [{ minute: "0.006" }, { name: "second", picos: 100_000_000n }],
    [{ minute: "0.001" }, { name: "second", picos: 16_666_667n }],
  ])("is read exactly, a second rounded up: %p", (texts, unit) => {
    expect(readUnitPrice(texts)?.unit).toMatchObject(unit);
  });

  test("needs neither a window nor an output limit", () =>
    expect(problemsOf(modelOf('price: { search: "0.002" }'))).toEqual([]));

  test.each([
    ['price: { search: "0.002", input: "1.00" }', "stands beside other prices"],
    ['price: { search: "0.002" }\n    cost: { minute: "0.006" }', "counts something else than another price"],
    ['price: { image: { "auto": "0.04" } }', "has a wrong value"],
    ['price: { input: "1.00", output: "1.00" }', "is missing"],
  ])("is a problem beside another unit, tokens or a wrong kind: %p", (lines, problem) => {
    expect(problemsOf(modelOf(lines)).join("\n")).toContain(problem);
  });
});
