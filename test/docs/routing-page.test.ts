import { expect, test } from "bun:test";
import { loadYaml } from "../config/temp-config.ts";
import { ABILITIES_YAML, POOL_YAML } from "./routing-blocks.ts";

test("the pool of the routing page is a configuration without problems", () => {
  const [upstream] = loadYaml(POOL_YAML.text, { OPENAI_KEY_A: "one", OPENAI_KEY_B: "two" }).upstreams;
  expect(upstream?.keys).toMatchObject([
    { label: "team-a", apiKey: "one", weight: 3 },
    { label: "team-b", apiKey: "two", limits: { requestsPerMinute: 500, concurrentRequests: 40 } },
  ]);
});

test("the routes of different abilities are a configuration without problems", () => {
  const [model] = loadYaml(ABILITIES_YAML.text, { OPENAI_API_KEY: "one", OWN_KEY: "two" }).models;
  expect(model?.routes).toMatchObject([
    { upstream: "own", can: ["tools"], contextWindow: 32_768, outputTokensMax: 8_192 },
    { upstream: "openai", contextWindow: undefined },
  ]);
});
