import { describe, expect, test } from "bun:test";
import { loadYaml, problemsOf } from "./temp-config.ts";

const upstream = (members: string) => `upstreams: { up: { protocol: openai, ${members} } }\n`;

describe("keys of an upstream", () => {
  test("are read with their weights and limits", () => {
    const yaml = upstream(
      "keys: { a: { api_key: one, weight: 3 }, b: { api_key: two, limits: { requests_per_minute: 5 } } }",
    );
    const [up] = loadYaml(yaml).upstreams;
    expect(up?.keys).toEqual([
      { label: "a", apiKey: "one", weight: 3, limits: {} },
      { label: "b", apiKey: "two", weight: 1, limits: { requestsPerMinute: 5 } },
    ]);
  });

  test("replace api_key", () => {
    expect(problemsOf(upstream("api_key: k, keys: { a: { api_key: one } }"))).toEqual([
      "upstreams.up.keys: is set beside api_key, expected one of the two",
    ]);
  });

  test("need one key, a secret each, and labels that metrics can show", () => {
    expect(problemsOf(upstream("keys: {}"))).toHaveLength(1);
    expect(problemsOf(upstream("keys: { a: { weight: 1 } }"))).toHaveLength(1);
    expect(problemsOf(upstream('keys: { "a b": { api_key: one } }'))).toEqual([
      'upstreams.up.keys["a b"]: is not a valid label, expected 1 to 64 letters, digits, dots, dashes and underscores',
    ]);
  });
});

test("route_choice and prompt_affinity of a model are read", () => {
  const yaml = `${upstream("api_key: k")}models:
  m: { routes: [ { upstream: up, model: m } ], context_window: 10, max_output_tokens: 5, price: { input: "1", output: "1" }, route_choice: fastest, prompt_affinity: false }
`;
  expect(loadYaml(yaml).models[0]).toMatchObject({ routeChoice: "fastest", promptAffinity: false });
  expect(problemsOf(yaml.replace("fastest", "slowest"))).toHaveLength(1);
});
