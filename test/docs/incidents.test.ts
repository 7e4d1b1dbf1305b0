import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { codesOf, REPOSITORY, readPage } from "./pages.ts";

/** Without its fenced blocks, whose marks are backticks as well. */
const INCIDENTS = readPage("docs/incidents.md").text.replace(/^```.*?^```$/gms, "");
const SIZING = readPage("docs/sizing.md").text;

test("every log line that the incidents page names is logged by the program", () => {
  const lines = codesOf(INCIDENTS).filter((code) => LOG_LINE.test(code) && !COMMAND.test(code));
  expect(lines.length).toBeGreaterThan(10);
  const source = readSource();
  expect(lines.filter((line) => !source.includes(line))).toEqual([]);
});

test("every metric that the incidents page or the sizing page names is on the metrics page", () => {
  const metrics = readPage("docs/metrics.md").text;
  const names = `${INCIDENTS}${SIZING}`.match(/\b(tollgate|gen_ai)_\w+/g) ?? [];
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !metrics.includes(name))).toEqual([]);
});

/** Words, as in `settlement replay resumed`; the text after a comma is part of a line. */
const LOG_LINE = /^[A-Za-z]+( [a-z]+,?)+$/;
const COMMAND = /^(bun|account|kill) /;

function readSource(): string {
  const paths = [...new Bun.Glob("src/**/*.ts").scanSync({ cwd: REPOSITORY })];
  return paths.map((path) => readFileSync(join(REPOSITORY, path), "utf8")).join("\n");
}
