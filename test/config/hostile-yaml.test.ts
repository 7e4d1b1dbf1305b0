import { describe, expect, test } from "bun:test";
import { loadYaml, problemsOf } from "./temp-config.ts";

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

  test("with 40,000 problems lists hundreds and counts the others", () => {
    const yaml = Array.from({ length: 40_000 }, (_, index) => `k${index}: 1`).join("\n");
    const problems = problemsOf(yaml);
    expect(problems[0]).toStartWith("k0: is not a known key");
    expect(problems.length).toBeGreaterThan(500);
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
