import { expect, test } from "bun:test";
import { loadYaml } from "../config/temp-config.ts";
import { AUDIO_YAML, FEES_YAML } from "./provider-tool-blocks.ts";

const UPSTREAMS = "upstreams: { openai: { protocol: openai, api_key: k, responses: true } }\n";

test("the fees of the page on tools are those of a price, beside the provider's own", () => {
  const [model] = loadYaml(UPSTREAMS + FEES_YAML.text).models;
  expect(model?.toolCallsDefault).toBe(5);
  expect(model?.routes[0]?.price.tools).toMatchObject({
    web_search: 12_000_000_000n,
    file_search: 3_000_000_000n,
    code_interpreter: 30_000_000_000n,
  });
  expect(model?.routes[0]?.cost?.tools).toMatchObject({ web_search: 10_000_000_000n });
});

test("the prices of the page on audio and images are read", () => {
  const rest = "context_window: 1000, max_output_tokens: 100, routes: [{ upstream: openai, model: m }]";
  const price = AUDIO_YAML.text.replaceAll("\n", "\n    ");
  const [model] = loadYaml(`${UPSTREAMS}models:\n  m:\n    <<: { ${rest} }\n    ${price}`).models;
  expect(model?.price.audio).toEqual({ input: 32_000_000n, output: 64_000_000n, cachedInput: 32_000_000n });
  expect(model?.price.image).toEqual({ input: 5_000_000n, output: undefined, cachedInput: 5_000_000n });
});
