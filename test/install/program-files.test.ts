import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { programFile } from "../../src/program-files.ts";
import { readSources } from "../architecture/source-files.ts";

/** Files that may know where they are: the first for all others, these two for the build of the console alone. */
const KNOWING = ["program-files.ts", "app/console-build.ts", "console/build.ts"];
/** The script of a worker, which the build of the executable finds by this form. */
const WORKER = /new URL\("\.[\w./-]+\.ts", import\.meta\.url\)/g;

test("sources find files through programFile and workers by one form, as an executable needs it", async () => {
  const sources = (await readSources()).filter(({ path }) => !KNOWING.includes(path));
  const strays = sources.filter(({ text }) =>
    /\bimport\.meta\.|\b__dirname\b/.test(text.replaceAll(WORKER, "")),
  );
  expect(strays.map(({ path }) => path)).toEqual([]);
});

test("a file of the program is found in the sources", () => {
  for (const path of ["proto/tollgate", "src/gen/ledger.binpb"])
    expect(existsSync(programFile(path))).toBe(true);
});
