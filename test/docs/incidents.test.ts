import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
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

test("every incident names its alerts or says that it has none, and a case of promtool fires just these", () => {
  const sections = INCIDENTS.split(/^## /m).slice(1);
  const alertsOf = new Map(sections.map((text) => [text.split("\n", 1)[0], readAlertLine(text)]));
  expect([...alertsOf].filter(([, alerts]) => alerts === undefined)).toEqual([]);
  const named = [...alertsOf].filter(([, alerts = []]) => alerts.length > 0);
  expect(Object.fromEntries(named)).toEqual(readFiringAlerts());
});

/** The alerts of a section, sorted; none where it says so, `undefined` where it says nothing. */
function readAlertLine(section: string): readonly string[] | undefined {
  const [, line] = /^(?:Alerts: |(?=No alert: ))(.+?)\n\n/ms.exec(section) ?? [];
  if (line === undefined) return undefined;
  return [...line.matchAll(/\[(Tollgate\w+)\]/g)].map(([, name = ""]) => name).sort();
}

/** The alerts that fire at the end of each case, sorted, by the case's name. */
function readFiringAlerts(): Readonly<Record<string, readonly string[]>> {
  const text = readFileSync(join(REPOSITORY, "test/deploy/incident-cases.yaml"), "utf8");
  // Safe because promtool reads the file in another test.
  const { tests } = parse(text) as { tests: { name: string; promql_expr_test: ExpectedAlerts[] }[] };
  return Object.fromEntries(
    tests.map(({ name, promql_expr_test: expected }) => [
      name,
      (expected.at(-1)?.exp_samples ?? [])
        .map(({ labels }) => /alertname="(\w+)"/.exec(labels)?.[1] ?? "")
        .sort(),
    ]),
  );
}

interface ExpectedAlerts {
  readonly exp_samples: readonly { readonly labels: string }[];
}

/** Words, as in `settlement replay resumed`; the text after a comma is part of a line. */
const LOG_LINE = /^[A-Za-z]+( [a-z]+,?)+$/;
const COMMAND = /^(bun|account|kill) /;

function readSource(): string {
  const paths = [...new Bun.Glob("src/**/*.ts").scanSync({ cwd: REPOSITORY })];
  return paths.map((path) => readFileSync(join(REPOSITORY, path), "utf8")).join("\n");
}
