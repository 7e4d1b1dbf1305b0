import { beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../support/temp-folder.ts";
import { type Failure, findFailures, formatFailures } from "./failures.ts";

const FILES = {
  "fails.test.ts": `import { describe, expect, test } from "bun:test";
describe("outer & <b>", () => {
  describe("inner", () => test('is "quoted"', () => expect({ a: "<1>" }).toEqual({ a: "&" })));
  test("throws", () => { throw new Error("boom\\nsecond line"); });
  test("passes", () => {});
  test.skip("is skipped", () => {});
});
test("takes too long", async () => { await Bun.sleep(2_000); }, 50);
`,
  "loads-nothing.test.ts": `import "./nowhere.ts";\nimport { test } from "bun:test";\ntest("never runs", () => {});\n`,
  "passes.test.ts": `import { test } from "bun:test";\ntest("passes", () => {});\n`,
  "exits.test.ts": `import { test } from "bun:test";\ntest("exits", () => process.exit(3));\n`,
};

/** Runs some of the files in a process of its own, and returns its JUnit report. */
async function reportOf(files: readonly (keyof typeof FILES)[], ...options: string[]): Promise<string> {
  const cwd = tempFolder();
  for (const name of files) writeFileSync(join(cwd, name), FILES[name]);
  const reporter = ["--reporter=junit", "--reporter-outfile=report.xml"];
  const child = Bun.spawn([process.execPath, "test", ...reporter, ...options], {
    cwd,
    stdio: ["ignore", "ignore", "ignore"],
  });
  expect(await child.exited).not.toBe(0);
  const report = Bun.file(join(cwd, "report.xml"));
  return (await report.exists()) ? report.text() : "";
}

function namesOf(failures: readonly Failure[]): readonly string[] {
  return failures.map(({ file, name }) => [file, ...name].join(" > "));
}

describe("a report of Bun", () => {
  const names = ["fails.test.ts", "loads-nothing.test.ts", "passes.test.ts"] as const;
  let report: string;
  beforeAll(async () => {
    report = await reportOf(names);
  });

  test("yields each failed test by file and full name, and no other test", () => {
    expect(namesOf(findFailures(report, []))).toEqual([
      'fails.test.ts > outer & <b> > inner > is "quoted"',
      "fails.test.ts > outer & <b> > throws",
      "fails.test.ts > takes too long",
    ]);
  });

  test("yields the message of each failure", () => {
    const [first, second, third] = findFailures(report, []).map(({ message }) => message);
    expect(first).toContain('-   "a": "&",\n+   "a": "<1>",\n');
    expect(second).toStartWith("Error: boom\nsecond line\n");
    expect(third).toBe("test timed out");
  });

  test("yields a file that could not be loaded as a failure without a test", () =>
    expect(namesOf(findFailures(report, names)).at(-1)).toBe("loads-nothing.test.ts"));

  test("yields a file whose worker process has crashed", async () => {
    const crashed = ["exits.test.ts", "passes.test.ts"] as const;
    const text = await reportOf(crashed, "--parallel=2");
    expect(namesOf(findFailures(text, crashed))).toEqual(["exits.test.ts > (worker crashed)"]);
  });

  test("that is missing, because the run has crashed, yields every expected file", async () => {
    const crashed = ["exits.test.ts"] as const;
    expect(namesOf(findFailures(await reportOf(crashed), crashed))).toEqual(crashed);
  });

  test("that breaks off yields its failures and the files that it does not contain", () => {
    const cut = report.slice(0, report.indexOf("takes too long"));
    expect(namesOf(findFailures(cut, names))).toEqual([
      'fails.test.ts > outer & <b> > inner > is "quoted"',
      "fails.test.ts > outer & <b> > throws",
      "loads-nothing.test.ts",
      "passes.test.ts",
    ]);
  });
});

describe("the summary of failures", () => {
  const failure = (lines: number): Failure => ({
    file: "test/a.test.ts",
    name: ["outer", "fails"],
    message: Array.from({ length: lines }, (_, index) => `line ${index + 1}`).join("\n"),
  });

  test("names file, describe blocks and test above the message", () => {
    expect(formatFailures([failure(2)])).toBe(
      "1 failure:\n\ntest/a.test.ts > outer > fails\n    line 1\n    line 2",
    );
  });

  test("shows 40 lines of a long message, and counts the others", () => {
    const lines = formatFailures([failure(100)]).split("\n");
    expect(lines.slice(-2)).toEqual(["    line 40", "    … 60 more lines"]);
  });

  test("of many failures shortens each message, and shows at least two lines", () => {
    const ten = formatFailures(Array.from({ length: 10 }, () => failure(100)));
    expect(ten).toStartWith("10 failures:");
    expect(ten).toContain("line 6\n    … 94 more lines");
    expect(formatFailures(Array.from({ length: 200 }, () => failure(100)))).toContain(
      "line 2\n    … 98 more",
    );
  });
});
