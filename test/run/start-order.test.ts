import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../support/temp-folder.ts";
import { findGone, printTimings } from "./start-order.ts";
import { findTestFiles } from "./unit-files.ts";

test("every file that is started first exists", async () =>
  expect(findGone(await findTestFiles())).toEqual([]));

test("Bun starts the longest files first", async () => {
  const cwd = tempFolder();
  const longest = ["test/ledger/audit.test.ts", "test/browser/every-page.test.ts"];
  const files = ["test/a.test.ts", "test/b.test.ts", ...longest, "test/y.test.ts", "test/z.test.ts"];
  const started = join(cwd, "started");
  for (const file of files) await Bun.write(join(cwd, file), fileThatNotes(file, started));
  writeFileSync(join(cwd, "timings.json"), printTimings(files));
  const child = Bun.spawn([process.execPath, "test", "--parallel=2", "--timings=timings.json"], {
    cwd,
    stdio: ["ignore", "ignore", "ignore"],
  });
  expect(await child.exited).toBe(0);
  const order = readFileSync(started, "utf8").trim().split("\n");
  expect(order.toSorted()).toEqual(files.toSorted());
  expect(longest).toContain(order[0] ?? "");
});

/** A test file that adds its name to a list when it starts. */
function fileThatNotes(file: string, list: string): string {
  return `import { test } from "bun:test";
import { appendFileSync } from "node:fs";
appendFileSync(${JSON.stringify(list)}, ${JSON.stringify(`${file}\n`)});
test("runs", () => {});
`;
}
