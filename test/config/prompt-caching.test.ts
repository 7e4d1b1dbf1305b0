import { expect, test } from "bun:test";
import { readPage } from "../docs/pages.ts";
import { loadYaml, problemsOf } from "./temp-config.ts";

const { text: YAML } = readPage("docs/prompt-caching.md").snippet("prompt_caching:");
const KEYS = { ANTHROPIC_API_KEY: "k" };

test("the configuration on the page of prompt caching turns it on", () =>
  expect(loadYaml(YAML, KEYS).models[0]?.promptCaching).toBe("auto"));

test("prompt caching is off by default, and with off", () => {
  expect(loadYaml(YAML.replace("prompt_caching: auto", ""), KEYS).models[0]?.promptCaching).toBeUndefined();
  expect(
    loadYaml(YAML.replace("caching: auto", "caching: off"), KEYS).models[0]?.promptCaching,
  ).toBeUndefined();
});

test("any other value of prompt_caching is a problem", () => {
  expect(problemsOf(YAML.replace("caching: auto", "caching: on"), KEYS)).toEqual([
    "models.claude-sonnet-4-5.prompt_caching: has a wrong value, expected off or auto",
  ]);
});
