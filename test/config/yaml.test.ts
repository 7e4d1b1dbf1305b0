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

  test("stay text in a credential of digits", () => {
    expect(loadYaml(upstream(`    api_key: \${K}\n`), { K: "123456" }).upstreams[0]?.apiKey).toBe("123456");
  });

  test("become neither YAML syntax nor other variables", () => {
    const hostile = `k,extra:1}#'"\${HOME}`;
    expect(
      loadYaml(upstream(`    api_key: \${K}\n`), { K: hostile, HOME: "/root" }).upstreams[0]?.apiKey,
    ).toBe(hostile);
  });

  test("need not be set when a comment names them", () => {
    expect(problemsOf(`# api_key: \${MISSING}\ndrain_s: 1 # \${MISSING}\n`)).toEqual([]);
  });

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
      `tollgate.yaml: is not valid YAML from line ${line} on, expected one YAML document`,
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

/** Ten lists, each with nine aliases of the one before: 3.5 billion values. */
function billionLaughs(): string {
  const names = [..."bcdefghij"];
  const lines = names.map((name, index) => {
    const previous = `*${["a", ...names][index]}`;
    return `${name}: &${name} [${Array(9).fill(previous).join(", ")}]`;
  });
  return `a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\n${lines.join("\n")}\n`;
}

/** Lists nested by aliases, each with one alias. */
function aliasDepth(levels: number): string {
  const lines = Array.from({ length: levels }, (_, index) => `a${index + 1}: &a${index + 1} [*a${index}]`);
  return `a0: &a0 [1]\n${lines.join("\n")}\n`;
}

describe("a hostile document", () => {
  const itself =
    "tollgate.yaml: has an alias in line 2 that contains itself, expected aliases of complete anchors";
  const many = "tollgate.yaml: has more than 200000 values, aliases expanded, expected a smaller document";
  const long = "tollgate.yaml: has more than 400000 tokens, expected a smaller document";
  const deep = "at most 64 levels";

  test.each([
    ["an anchor that contains itself in a mapping", "upstreams: &u\n  a: *u\n", itself],
    ["an anchor that contains itself in a list", "upstreams: &u\n  [[*u]]\n", itself],
    ["an anchor that merges itself", "upstreams: &u\n  <<: *u\n", itself],
    ["two anchors that contain each other", "a: &a { b: &b\n  { a: *a, b: *b } }\n", itself],
    [
      "an alias before its anchor",
      "a: *b\nb: &b 1\n",
      "tollgate.yaml: has an alias in line 1 without an anchor, expected an anchor before each alias",
    ],
    ["aliases that expand to billions of values", billionLaughs(), many],
    [
      "a thousand members merged a thousand times",
      `a: &a {${Array.from({ length: 1_000 }, (_, index) => `k${index}: 1`).join(", ")}}\nb: [${"{ <<: *a }, ".repeat(1_000)}]\n`,
      many,
    ],
    ["half a million elements", `a: [${"1,".repeat(500_000)}]\n`, long],
    ["half a million aliases", `a: &a 1\nb: [${"*a,".repeat(300_000)}]\n`, long],
    ["a million open brackets", `a: ${"[".repeat(1_000_000)}`, deep],
    ["half a million dashes", "- ".repeat(500_000), deep],
    ["half a million question marks", "? ".repeat(500_000), deep],
    [
      "a thousand indented levels",
      Array.from({ length: 1_000 }, (_, index) => `${" ".repeat(index)}a:`).join("\n"),
      deep,
    ],
    ["levels nested by aliases", aliasDepth(70), deep],
    [
      "more than a mebibyte",
      `# ${"x".repeat(1_048_576)}`,
      "tollgate.yaml: is larger than 1 MiB, expected a YAML file",
    ],
  ])("with %s is one problem", (_, yaml, problem) => {
    const problems = problemsOf(yaml);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  });

  test("may have a thousand aliases of one anchor", () => {
    const model = (index: number) =>
      `  m${index}: { routes: &r${index} [{ upstream: demo, model: d }], context_window: 9, max_output_tokens: 9, price: *p }\n`;
    const first = model(0).replace("*p", '&p { input: "1", output: "2" }');
    const yaml = `models:\n${first}${Array.from({ length: 1_000 }, (_, index) => model(index + 1)).join("")}`;
    expect(loadYaml(yaml).models).toHaveLength(1_001);
  });

  test("with 40,000 problems lists about the first thousand and counts the others", () => {
    const yaml = Array.from({ length: 40_000 }, (_, index) => `k${index}: 1`).join("\n");
    const problems = problemsOf(yaml);
    expect(problems[0]).toStartWith("k0: is not a known key");
    expect(problems.length).toBeGreaterThan(900);
    expect(problems.join("\n").length).toBeLessThan(200_000);
    expect(problems.at(-1)).toBe(`and ${40_000 - (problems.length - 1)} more problems`);
  });

  test("with a key of 1,000 characters has its first 256 quoted", () => {
    const [problem = ""] = problemsOf(`limits:\n  ${"k".repeat(1_000)}: 1\n`);
    expect(problem).toStartWith(`limits["${"k".repeat(256)}…"]: is not a known key`);
  });

  test("that names a long variable very often is a problem", () => {
    const problems = problemsOf(`upstreams: { a: { base_url: "${`\${BIG}`.repeat(1_000)}" } }\n`, {
      BIG: "x".repeat(100_000),
    });
    expect(problems).toContain(
      "upstreams.a.base_url: exceeds the maximum length of inserted variables, expected shorter or fewer variables",
    );
  });

  test("with the characters that replace placeholders is a problem like any other value", () => {
    expect(problemsOf(`drain_s: ${"\uE000".repeat(300_000)}\n`)).toEqual([
      "drain_s: has a wrong value, expected a whole number from 0 to 3600",
    ]);
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
