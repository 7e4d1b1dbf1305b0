import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { tempFolder } from "../support/temp-folder.ts";
import { findTestFiles, findUnitFiles } from "./unit-files.ts";

const ROOT = resolve(import.meta.dir, "../..");

/** Writes modules to a folder. Returns the path of the first one from the repository's root. */
function writeModules(modules: Readonly<Record<string, string>>): string {
  const folder = tempFolder();
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(folder, name), text);
  return relative(ROOT, join(folder, Object.keys(modules)[0] ?? ""));
}

test("a test file that starts a server is not a unit test", async () => {
  const file = writeModules({ "a.test.ts": `import { test } from "bun:test";\nBun.serve({});\n` });
  expect(await findUnitFiles([file])).toEqual([]);
});

test("a test file whose import imports a module that starts a process is not a unit test", async () => {
  const file = writeModules({
    "a.test.ts": `import { b } from "./b.ts";\n`,
    "b.ts": `export { c as b } from "./c.ts";\n`,
    "c.ts": `import "./b.ts";\nexport const c = Bun.spawn;\n`,
  });
  expect(await findUnitFiles([file])).toEqual([]);
});

test("a test file whose imports start nothing is a unit test", async () => {
  const file = writeModules({
    "a.test.ts": `import { b } from "./b.ts";\n`,
    "b.ts": `export const b = 1;\n`,
  });
  expect(await findUnitFiles([file])).toEqual([file]);
});

test("the repository has unit tests of every part without a server, and no unit test of HTTP routes", async () => {
  const files = await findTestFiles();
  const unit = await findUnitFiles(files);
  const parts = new Set(unit.map((file) => file.split("/")[1]));
  for (const part of ["domain", "catalog", "wire", "gateway", "ledger", "limiter", "config"]) {
    expect([...parts]).toContain(part);
  }
  expect(files).toContain("test/http/http-routes.test.ts");
  expect(unit).not.toContain("test/http/http-routes.test.ts");
});
