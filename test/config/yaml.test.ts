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
  ])("are filled into %s", (_, yaml) => {
    expect(loadYaml(yaml, { K: "k-v", P: "k" }).upstreams[0]?.apiKey).toBe("k-v");
  });

  test("are filled into numbers", () => {
    const config = loadYaml(`limits: { requests_per_minute: \${RPM} }`, { RPM: "12" });
    expect(config.keyLimits.requestsPerMinute).toBe(12);
  });

  test("stay text in a credential of digits", () =>
    expect(loadYaml(upstream(`    api_key: \${K}\n`), { K: "123456" }).upstreams[0]?.apiKey).toBe("123456"));

  test("become neither YAML syntax nor other variables", () => {
    const hostile = `k,extra:1}#'"\${HOME}`;
    expect(
      loadYaml(upstream(`    api_key: \${K}\n`), { K: hostile, HOME: "/root" }).upstreams[0]?.apiKey,
    ).toBe(hostile);
  });

  test("need not be set when a comment names them", () =>
    expect(problemsOf(`# api_key: \${MISSING}\ndrain_s: 1 # \${MISSING}\n`)).toEqual([]));

  test("are problems by name when they are missing, empty or malformed", () => {
    expect(problemsOf(upstream(`    api_key: \${ONE}\${TWO}\n`), { TWO: "" })).toEqual([
      "upstreams.a.api_key: needs ONE, TWO, which is not set or empty, expected it in the environment",
    ]);
    expect(problemsOf(upstream(`    api_key: \${not a name}\n`))).toEqual([
      "upstreams.a.api_key: has a placeholder without a valid variable name, expected letters, digits and _ in it",
    ]);
  });

  test("with a line break at the end are rejected as credentials", () => {
    expect(problemsOf(upstream(`    api_key: \${K}\n`), { K: "k\n" })).toEqual([
      "upstreams.a.api_key: has a wrong value, expected a key without spaces or line breaks",
    ]);
  });
});

describe("invalid YAML", () => {
  test.each([
    ["an open list", "drain_s: 1\n\nlimits: [1, 2\nbilling: 3\n", 3, "a bracket is not closed"],
    ["an open quote", "drain_s: 1\nlimits: 'x\n", 2, "a quote is not closed"],
    [
      "a wrong indentation",
      "drain_s: 1\n  billing: 2\n",
      2,
      "a key has no colon, or its line is indented unlike the lines above",
    ],
    ["a tab", "billing:\n\thold_ttl_s: 1\n", 2, "a tab indents it, where YAML has blanks only"],
    ["the first line", "[\n", 1, "a bracket is not closed"],
    [
      "a reserved character",
      "billing:\n  client_disconnect: @free\n",
      2,
      "a text begins with a reserved character and needs quotes",
    ],
    [
      "a key without a colon",
      "billing:\n  hold_ttl_s 60\n  client_disconnect: free\n",
      3,
      "a key has no colon, or its line is indented unlike the lines above",
    ],
  ])("with %s is a problem that names the line and the reason", (_, yaml, line, reason) => {
    expect(problemsOf(yaml)).toEqual([
      `tollgate.yaml: is not valid YAML from line ${line} on: ${reason}, expected one YAML document`,
    ]);
  });

  test.each([
    ["an unclosed list behind 90,000 lines", `${"# filler\n".repeat(90_000)}a: [`, 90_001],
    [
      "an unclosed quote in a key of a list's element",
      "models:\n  m:\n    routes:\n      - 'upstream: a\n",
      4,
    ],
    ["a second document", "drain_s: 1\n---\ndrain_s: 2\n", 2],
  ])("with %s is a problem that names the line", (_, yaml, line) => {
    expect(problemsOf(yaml)).toEqual([
      expect.stringContaining(`tollgate.yaml: is not valid YAML from line ${line} on: `),
    ]);
  });
});

describe("YAML", () => {
  test("is read by version 1.2, also with a directive for 1.1", () => {
    const yaml = "%YAML 1.1\n---\nlimits: { requests_per_minute: 010, tokens_per_minute: 0o17 }\n";
    expect(loadYaml(yaml).keyLimits).toMatchObject({ requestsPerMinute: 10, tokensPerMinute: 15 });
    expect(problemsOf("%YAML 1.1\n---\nupstreams: { a: { responses: yes } }\n")).toContain(
      "upstreams.a.responses: has a wrong value, expected true or false",
    );
  });

  test.each([
    ["a line feed", "\n"],
    ["a carriage return and a line feed", "\r\n"],
    ["a carriage return", "\r"],
  ])("may end its lines with %s", (_, end) => {
    expect(loadYaml(["drain_s: 7", "limits:", "  requests_per_minute: 8", ""].join(end))).toMatchObject({
      drainMs: 7_000,
      keyLimits: { requestsPerMinute: 8 },
    });
  });

  test("merges mappings: own keys take precedence, then those of the first mapping", () => {
    const yaml = `models:
  a: &a { routes: [{ upstream: demo, model: d }], context_window: 10, max_output_tokens: 1, price: &p { input: "1", output: "1" } }
  b: { <<: [{ context_window: 20 }, *a], max_output_tokens: 2 }
  c: { max_output_tokens: 3, <<: *a }
`;
    const models = loadYaml(yaml).models.map(({ contextWindow, outputTokensMax }) => [
      contextWindow,
      outputTokensMax,
    ]);
    expect(models).toEqual([
      [10, 1],
      [20, 2],
      [10, 3],
    ]);
    expect(problemsOf("limits: { <<: 5 }\n")).toEqual([
      'limits["<<"]: cannot be merged, expected a mapping or a list of mappings',
    ]);
  });

  test("with a mapping as a key is a problem that names the line", () => {
    expect(problemsOf("drain_s: 1\n? { a: 1 }\n: 2\n")).toContain(
      "?: is a list or a mapping in line 2, expected text for a key",
    );
  });
});

describe("duplicate keys", () => {
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
    expect(problemsOf(yaml)).toEqual([`${place}: is a duplicate key in line ${line}, expected unique keys`]);
  });

  test("are no problem in different places, in comments or in texts", () => {
    const models = `models:\n  m: ${model}\n  n: ${model}\n# m: 1\n# m: 2\n`;
    expect(problemsOf(models)).toEqual([]);
    expect(problemsOf(upstream('    api_key: "{a:1,a:2}"\n'))).toEqual([]);
  });

  test("are no problem where a key overrides a merged one", () => {
    const yaml = `models:\n  m: &m ${model}\n  n: { <<: *m, max_output_tokens: 5 }\n`;
    expect(problemsOf(yaml)).toEqual([]);
    expect(loadYaml(yaml).models[1]?.outputTokensMax).toBe(5);
  });

  test("named __proto__ do not change any prototype", () => {
    expect(problemsOf(`models:\n  __proto__: ${model}\n`)).toEqual([
      "models.__proto__: is not a valid model id, expected 1 to 256 characters without spaces",
    ]);
    expect(Object.hasOwn(Object.prototype, "routes")).toBe(false);
    expect(problemsOf("__proto__: { drain_s: 5 }\n")).toHaveLength(1);
  });
});
