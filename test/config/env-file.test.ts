import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { AdditionError } from "../../src/config/add-entries.ts";
import { loadWithSource, rereadConfig } from "../../src/config/config.ts";
import { addVariables } from "../../src/config/env-file.ts";
import { readSourcesNow } from "../../src/config/sources.ts";
import { tempFolder } from "../support/temp-folder.ts";

const YAML = `upstreams:
  one: { protocol: openai, api_key: "\${FROM_FILE}" }
  two: { protocol: openai, api_key: "\${FROM_SHELL}" }
models:
  m: { known: openai/gpt-4.1, routes: [{ upstream: one }, { upstream: two, priority: 2 }] }
`;

test("variables of .env follow the file, and one that the environment has otherwise keeps its value", async () => {
  const folder = tempFolder();
  const write = (text: string) => writeFileSync(join(folder, ".env"), text);
  writeFileSync(join(folder, "tollgate.yaml"), YAML);
  write("FROM_FILE=first\nFROM_SHELL=ignored\n");
  // As Bun reads it: the environment goes first.
  const loaded = loadWithSource({ FROM_FILE: "first", FROM_SHELL: "own" }, { folder });
  expect(loaded.config.upstreams.map(({ apiKey }) => apiKey)).toEqual(["first", "own"]);
  write("FROM_FILE=second # rotated\nFROM_SHELL=changed\nADDED=third\n");
  writeFileSync(
    join(folder, "tollgate.yaml"),
    YAML.replace(
      "models:",
      `  three: { protocol: openai, api_key: "\${ADDED}" }
models:`,
    ),
  );
  const next = await rereadConfig(loaded, readSourcesNow(loaded.place));
  expect(next.config.upstreams.map(({ apiKey }) => apiKey)).toEqual(["second", "own", "third"]);
});

test("a variable is added once, behind a line without an end, and never replaced or quoted", () => {
  expect(addVariables("# ours\nA=1", { B: "sk-2" })).toBe("# ours\nA=1\nB=sk-2\n");
  expect(addVariables("A=1\n", { A: "1" })).toBe("A=1\n");
  expect(() => addVariables("A=1\n", { A: "2" })).toThrow(AdditionError);
  for (const value of ["a b", "a\nB=c", "a#b", "a$b", '"a"', "a\\b", "ä"])
    expect(() => addVariables("", { A: value })).toThrow(AdditionError);
});
