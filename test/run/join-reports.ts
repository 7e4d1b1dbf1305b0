import { rmSync } from "node:fs";

const TOTALS = ["tests", "assertions", "failures", "skipped", "time"] as const;

/** Writes one JUnit report of several runs. Throws, and leaves no file, when a run has no complete report. */
export async function joinReports(paths: readonly string[], target: string): Promise<void> {
  rmSync(target, { force: true });
  const reports = await Promise.all(paths.map(readReport));
  const totals = TOTALS.map((name) => `${name}="${sumOf(reports.map(({ head }) => totalIn(head, name)))}"`);
  const suites = reports.map(({ body }) => body).join("");
  await Bun.write(
    target,
    `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="bun test" ${totals.join(" ")}>${suites}</testsuites>\n`,
  );
}

/** Reads the attributes and the content of the outermost element. Throws for an incomplete report. */
async function readReport(path: string): Promise<{ readonly head: string; readonly body: string }> {
  const file = Bun.file(path);
  const text = (await file.exists()) ? await file.text() : "";
  const [opening = "", head = ""] = /<testsuites\b([^>]*)>/.exec(text) ?? [];
  const from = text.indexOf(opening) + opening.length;
  const to = text.lastIndexOf("</testsuites>");
  if (opening === "" || to < from)
    throw new Error(`A run of the tests broke off: there is no complete report in ${path}`);
  return { head, body: text.slice(from, to).trimEnd() };
}

function totalIn(head: string, name: string): number {
  const value = new RegExp(` ${name}="([\\d.]+)"`).exec(head)?.[1];
  if (value === undefined) throw new Error(`A report of the tests has no total of ${name}`);
  return Number(value);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
