import { describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../support/temp-folder.ts";
import { joinReports } from "./join-reports.ts";

function reportOf(totals: string, suites: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="bun test" ${totals}>\n  ${suites}\n</testsuites>\n`;
}

const FIRST = reportOf(
  'tests="3" assertions="9" failures="1" skipped="0" time="1.5"',
  '<testsuite name="a" tests="3"></testsuite>',
);
const SECOND = reportOf(
  'tests="4" assertions="1" failures="0" skipped="2" time="0.25"',
  '<testsuite name="b" tests="4"></testsuite>',
);

async function joined(...texts: readonly string[]) {
  const folder = tempFolder();
  const paths = texts.map((text, index) => {
    const path = join(folder, `${index}.xml`);
    if (text !== "") writeFileSync(path, text);
    return path;
  });
  const target = join(folder, "junit.xml");
  writeFileSync(target, "of an earlier run");
  const [outcome] = await Promise.allSettled([joinReports(paths, target)]);
  return { outcome, text: existsSync(target) ? await Bun.file(target).text() : undefined };
}

describe("the reports of two runs", () => {
  test("are joined to one with all suites and the sums of the totals", async () => {
    const { text } = await joined(FIRST, SECOND);
    expect(text?.match(/<testsuites .*>/)?.[0]).toBe(
      '<testsuites name="bun test" tests="7" assertions="10" failures="1" skipped="2" time="1.75">',
    );
    expect(text?.match(/<testsuite name="."/g)).toEqual(['<testsuite name="a"', '<testsuite name="b"']);
    expect(text?.match(/<\/?testsuites/g)).toEqual(["<testsuites", "</testsuites"]);
  });

  test.each([
    ["is missing", ""],
    ["breaks off", FIRST.slice(0, -20)],
    ["has no totals", reportOf("", "")],
  ])("are not joined when one of them %s", async (_, broken) => {
    const { outcome, text } = await joined(FIRST, broken);
    expect(outcome?.status).toBe("rejected");
    expect(text).toBeUndefined();
  });
});
