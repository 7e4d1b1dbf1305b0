import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AdditionError, type Additions, addEntries, readFileValues } from "../../src/config/add-entries.ts";

const KEY = `\${KEY}`;
const ADDITIONS: Additions = {
  upstreams: { up: { protocol: "openai", api_key: KEY, responses: true } },
  models: { new: { known: "openai/gpt-5", routes: [{ upstream: "up" }] } },
};
const UP = `up: { protocol: openai, api_key: "${KEY}", responses: true }`;
const NEW = "new: { known: openai/gpt-5, routes: [{ upstream: up }] }";

describe("addEntries", () => {
  test.each([
    ["an empty file", "", `upstreams:\n  ${UP}\nmodels:\n  ${NEW}\n`],
    ["a file of comments", "# mine\n", `# mine\nupstreams:\n  ${UP}\nmodels:\n  ${NEW}\n`],
    [
      "mappings in lines, with comments between and behind them",
      `upstreams:\n    a: { api_key: ${KEY} } # a\n\n# models\nmodels: # here\n m:\n   x: 1 # last\n# tail\nlimits: {}`,
      `upstreams:\n    a: { api_key: ${KEY} } # a\n    ${UP}\n\n# models\nmodels: # here\n m:\n   x: 1 # last\n ${NEW}\n# tail\nlimits: {}`,
    ],
    [
      "mappings in braces",
      "upstreams: { a: { x: 1 } }\nmodels: { m: { y: 2 }, } # all\n",
      `upstreams: { a: { x: 1 }, ${UP} }\nmodels: { m: { y: 2 }, ${NEW} } # all\n`,
    ],
    [
      "a file with the line ends of Windows",
      "limits: {}\r\n",
      `limits: {}\r\nupstreams:\r\n  ${UP}\r\nmodels:\r\n  ${NEW}\r\n`,
    ],
    ["empty mappings", "upstreams:\nmodels: {}\n", `upstreams:\n  ${UP}\nmodels: \n  ${NEW}\n`],
    [
      "a text block at the end",
      "upstreams:\n  a: |\n    t\n\nmodels:\n",
      `upstreams:\n  a: |\n    t\n  ${UP}\n\nmodels:\n  ${NEW}\n`,
    ],
  ])("extends %s", (_, before, after) => expect(addEntries(before, ADDITIONS)).toBe(after));

  test("keeps every line of the example file", () => {
    const example = readFileSync(join(import.meta.dir, "../../tollgate.example.yaml"), "utf8");
    const extended = addEntries(example, ADDITIONS);
    const added = extended.split("\n").filter((line) => !example.split("\n").includes(line));
    expect(added).toEqual([`  ${UP}`, `  ${NEW}`]);
    expect(extended.replace(`  ${UP}\n`, "").replace(`  ${NEW}\n`, "")).toBe(example);
  });

  test.each([
    ["a model that exists", "models: { new: {} }\n", "models has new already."],
    ["a file with a problem", "models: [\n", "The file has a problem"],
    ["a file that is no mapping", "- a\n", "The file is not a mapping."],
    ["a document with an end", "limits: {}\n...\n", "cannot be extended"],
    ["models from an alias", "a: &m { b: { x: 1 } }\nmodels: *m\n", "cannot be extended"],
    ["models that are a list", "models: [a]\n", "cannot be extended"],
  ])("refuses %s", (_, text, message) => {
    expect(() => addEntries(text, ADDITIONS)).toThrow(AdditionError);
    expect(() => addEntries(text, ADDITIONS)).toThrow(message);
  });

  test("prints names in quotes that YAML would read as something else", () => {
    const names = ["on", "1.5", "a: b", "Qwen/x:1", "*", "é", "-x", "#"];
    const models = Object.fromEntries(names.map((name) => [name, { known: name }]));
    const text = addEntries("", { upstreams: {}, models });
    expect(readFileValues(text).models).toEqual(models);
  });
});
