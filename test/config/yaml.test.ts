import { describe, expect, test } from "bun:test";
import { loadYaml, problemsOf } from "./temp-config.ts";

const upstream = (line: string) =>
  `upstreams:\n  a:\n    protocol: openai\n    base_url: https://a.example\n${line}`;

describe("variables in the file", () => {
  test.each([
    ["a plain value", upstream(`    api_key: \${K}\n`)],
    ["a quoted value", upstream(`    api_key: "\${K}"\n`)],
    [
      "a value in braces",
      `upstreams: { a: { protocol: openai, base_url: https://a.example, api_key: \${K} } }`,
    ],
    ["a part of a value", upstream(`    api_key: \${P}-v\n`)],
  ])("fill %s", (_, yaml) => {
    expect(loadYaml(yaml, { K: "k-v", P: "k" }).upstreams[0]?.apiKey).toBe("k-v");
  });

  test("fill numbers", () => {
    const config = loadYaml(`limits: { requests_per_minute: \${RPM} }`, { RPM: "12" });
    expect(config.keyLimits.requestsPerMinute).toBe(12);
  });

  test("stay text when a key is made of digits", () => {
    expect(loadYaml(upstream(`    api_key: \${K}\n`), { K: "123456" }).upstreams[0]?.apiKey).toBe("123456");
  });

  test("cannot become syntax, nor variables again", () => {
    const hostile = `k,extra:1}#'"\${HOME}`;
    expect(
      loadYaml(upstream(`    api_key: \${K}\n`), { K: hostile, HOME: "/root" }).upstreams[0]?.apiKey,
    ).toBe(hostile);
  });

  test("are not needed in comments", () => {
    expect(problemsOf(`# api_key: \${MISSING}\ndrain_s: 1 # \${MISSING}\n`)).toEqual([]);
  });

  test("are problems when they are missing, empty or no names, each by its name", () => {
    expect(problemsOf(upstream(`    api_key: \${ONE}\${TWO}\n`), { TWO: "" })).toEqual([
      "upstreams.a.api_key: needs ONE, TWO, which is not set or empty, expected it in the environment",
    ]);
    expect(problemsOf(upstream(`    api_key: \${not a name}\n`))).toEqual([
      "upstreams.a.api_key: holds a placeholder that names no variable, expected letters, digits and _ in it",
    ]);
  });

  test("with a line break at the end are refused as keys", () => {
    expect(problemsOf(upstream(`    api_key: \${K}\n`), { K: "k\n" })).toEqual([
      "upstreams.a.api_key: has a wrong value, expected a key without spaces or line breaks",
    ]);
  });
});

describe("invalid YAML", () => {
  test.each([
    ["an open list", "drain_s: 1\n\nlimits: [1, 2\nbilling: 3\n", 3],
    ["an open quote", "drain_s: 1\nlimits: 'x\n", 2],
    ["a wrong indentation", "drain_s: 1\n  billing: 2\n", 2],
    ["a tab", "billing:\n\thold_ttl_s: 1\n", 2],
    ["the first line", "[\n", 1],
  ])("with %s is a problem that names the line", (_, yaml, line) => {
    expect(problemsOf(yaml)).toEqual([
      `tollgate.yaml: is not valid YAML from line ${line} on, expected one YAML document`,
    ]);
  });

  test("is looked into in bounded time", () => {
    const startedAt = performance.now();
    expect(problemsOf(`${"# filler\n".repeat(100_000)}a: [`)).toHaveLength(1);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

describe("names that are there twice", () => {
  const model = `{ routes: [{ upstream: demo, model: d }], context_window: 9, max_output_tokens: 9, price: { input: "1", output: "1" } }`;

  test.each([
    ["keys of the file", "drain_s: 1\ndrain_s: 2\n", "drain_s", 2],
    ["models", `models:\n  m: ${model}\n  n: ${model}\n  m: ${model}\n`, "models.m", 4],
    ["models, once in quotes", `models:\n  m: ${model}\n  "m": ${model}\n`, "models.m", 3],
    ["keys in braces", "billing: { hold_ttl_s: 1, hold_ttl_s: 1 }\n", "billing.hold_ttl_s", 1],
    [
      "keys of a list's element",
      `models:\n  m: ${model.replace("model: d", "model: d, model: d")}\n`,
      "models.m.routes[0].model",
      2,
    ],
  ])("are a problem: %s", (_, yaml, place, line) => {
    expect(problemsOf(yaml)).toEqual([
      `${place}: is there twice, again in line ${line}, expected every name once`,
    ]);
  });

  test("are none in different places, in comments or in texts", () => {
    const models = `models:\n  m: ${model}\n  n: ${model}\n# m: 1\n# m: 2\n`;
    expect(problemsOf(models)).toEqual([]);
    expect(problemsOf(upstream('    api_key: "{a:1,a:2}"\n'))).toEqual([]);
  });

  test("are none where a merge is overridden", () => {
    const yaml = `models:\n  m: &m ${model}\n  n: { <<: *m, max_output_tokens: 5 }\n`;
    expect(problemsOf(yaml)).toEqual([]);
    expect(loadYaml(yaml).models[1]?.outputTokensMax).toBe(5);
  });

  test("do not reach the prototype of anything", () => {
    expect(problemsOf(`models:\n  __proto__: ${model}\n`)).toEqual([
      "models.__proto__: is no model id, expected 1 to 256 characters without spaces",
    ]);
    expect(Object.hasOwn(Object.prototype, "routes")).toBe(false);
    expect(problemsOf("__proto__: { drain_s: 5 }\n")).toHaveLength(1);
  });
});
