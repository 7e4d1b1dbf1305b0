import { describe, expect, test } from "bun:test";
import { loadYaml, placesOf, problemsOf } from "./temp-config.ts";

const UPSTREAMS = `
upstreams:
  anthropic: { protocol: anthropic, api_key: k }
  openai: { protocol: openai, base_url: https://up.example/v1, api_key: k }
`;
const PRICE = 'price: { input: "1", output: "1" }';

function routesOf(model: string) {
  const { models } = loadYaml(`${UPSTREAMS}models:\n  m:\n${model}`);
  return models[0]?.routes.map(({ can, contextWindow, outputTokensMax }) => ({
    can: can && [...can],
    contextWindow,
    outputTokensMax,
  }));
}

describe("the limits and abilities of a route", () => {
  test("are those of the file", () => {
    const routes = routesOf(`
    context_window: 1000
    max_output_tokens: 500
    ${PRICE}
    can: [tools, images]
    routes:
      - { upstream: openai, model: a, can: [tools], context_window: 2000, max_output_tokens: 100 }
      - { upstream: openai, model: b, can: [] }
      - { upstream: openai, model: c }`);
    expect(routes).toEqual([
      { can: ["tools"], contextWindow: 2_000, outputTokensMax: 100 },
      { can: [], contextWindow: undefined, outputTokensMax: undefined },
      { can: ["tools", "images"], contextWindow: undefined, outputTokensMax: undefined },
    ]);
  });

  test("are those of the route's known model, where they are below those of the model", () => {
    const [wide, narrow] =
      routesOf(`
    context_window: 1047576
    max_output_tokens: 32000
    routes:
      - { upstream: openai, known: openai/gpt-4.1-mini }
      - { upstream: anthropic, known: anthropic/claude-haiku-4-5 }`) ?? [];
    expect(wide).toMatchObject({ contextWindow: undefined, outputTokensMax: undefined });
    expect(narrow).toMatchObject({ contextWindow: 200_000, outputTokensMax: undefined });
    expect(narrow?.can).toContain("documents");
  });

  test("are unknown where nothing but prompt caching is listed", () => {
    const limits = `context_window: 9\n    max_output_tokens: 9\n    ${PRICE}`;
    const route = "routes: [{ upstream: openai, model: a, can: [prompt_caching] }]";
    expect(routesOf(`    ${limits}\n    ${route}`)).toMatchObject([{ can: undefined }]);
  });

  test("have the retention of the upstream, unless the route has its own", () => {
    const { models } = loadYaml(`
upstreams:
  kept: { protocol: openai, base_url: https://up.example/v1, api_key: k }
  gone: { protocol: openai, base_url: https://up.example/v1, api_key: k, retention: none }
models:
  m:
    context_window: 9
    max_output_tokens: 9
    ${PRICE}
    routes:
      - { upstream: gone, model: a }
      - { upstream: gone, model: b, retention: some }
      - { upstream: kept, model: c }
      - { upstream: kept, model: d, retention: none }`);
    expect(models[0]?.routes.map(({ retention }) => retention)).toEqual([
      "none",
      undefined,
      undefined,
      "none",
    ]);
  });

  test("are refused where the output limit is above the window", () => {
    const route = "{ upstream: openai, model: a, context_window: 10, max_output_tokens: 20 }";
    const limits = `context_window: 100, max_output_tokens: 50, ${PRICE}`;
    const problems = problemsOf(`${UPSTREAMS}models:\n  m: { ${limits}, routes: [${route}] }\n`);
    expect(placesOf(problems)).toEqual(["models.m.routes[0].max_output_tokens"]);
  });
});
