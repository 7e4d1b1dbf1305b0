import { expect, test } from "bun:test";
import { parsePrice } from "../../src/domain/money.ts";
import { TIERS } from "../../src/domain/tiers.ts";
import { loadYaml } from "../config/temp-config.ts";
import { readPage } from "./pages.ts";
import { TIERS_YAML } from "./tier-blocks.ts";

test("the prices of the page are a configuration without problems, and a markup counts for known tiers", () => {
  const [known, written] = loadYaml(TIERS_YAML.text, { OPENAI_API_KEY: "one" }).models;
  const { cost, price } = known?.routes[0] ?? {};
  expect(cost?.tiers?.priority?.input).toBe(parsePrice("2.50"));
  expect(price?.tiers?.priority?.input).toBe(parsePrice("2.875"));
  expect(Object.keys(written?.routes[0]?.price.tiers ?? {})).toEqual(["priority", "flex"]);
});

test("the page explains every tier", () => {
  const { text } = readPage("docs/tiers.md");
  expect(TIERS.filter((tier) => !text.includes(`| \`${tier}\` |`))).toEqual([]);
});
