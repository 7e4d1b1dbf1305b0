import { expect, test } from "bun:test";
import { readPage } from "../docs/pages.ts";
import { findCircles } from "./circles.ts";
import { withDrawing } from "./picture.ts";
import { ROOMS, roomOf } from "./rooms.ts";
import { readSources } from "./source-files.ts";

const LINES_MAX = 300;
/** Files above 300 lines; each gives its reason in its first comment. */
const LONG_FILES: readonly string[] = [];

const sources = await readSources();
const ownSources = sources.filter(({ path }) => roomOf(path) !== "gen");

test.each(Object.entries(ROOMS))(
  "src/%s imports only what the table of rooms allows",
  (room, { imports, packages }) => {
    const allowed = [...imports, ...packages];
    const strays = sources
      .filter(({ path }) => roomOf(path) === room)
      .flatMap((file) => file.imports.map((target) => ({ path: file.path, target })))
      .filter(({ target }) => roomOf(target) !== room)
      .filter(({ target }) => !allowed.some((each) => target === each || target.startsWith(`${each}/`)));
    expect(strays.map(({ path, target }) => `${path} -> ${target}`)).toEqual([]);
  },
);

test("every file of src belongs to a room of the table", () => {
  const rooms = new Set(sources.map(({ path }) => roomOf(path)));
  expect([...rooms].filter((room) => !(room in ROOMS))).toEqual([]);
});

test("every room of the table has a file, and every import that it may make is made", () => {
  const unused = Object.entries(ROOMS).flatMap(([room, { imports, packages }]) => {
    const made = sources.filter(({ path }) => roomOf(path) === room).flatMap((file) => file.imports);
    return [...imports, ...packages]
      .filter((each) => !made.some((target) => target === each || target.startsWith(`${each}/`)))
      .map((each) => `${room} -> ${each}`);
  });
  expect(unused).toEqual([]);
});

test("no files import each other in a circle, types included", () => {
  expect(findCircles(ownSources)).toEqual([]);
});

/** Prints code for customers, which reads their environment. */
const ENVIRONMENT_PRINTER = "console/pages/keys/snippets.ts";

test("the environment is read by the configuration alone", () => {
  const readers = sources.filter(({ text }) => /\b(Bun|process|import\.meta)\.env\b/.test(text));
  const strays = readers.map(({ path }) => path).filter((path) => roomOf(path) !== "config");
  expect(strays.filter((path) => path !== ENVIRONMENT_PRINTER)).toEqual([]);
});

test("no file has more than 300 lines without being listed with its reason", () => {
  const long = ownSources.filter(({ text }) => text.split("\n").length > LINES_MAX + 1);
  expect(long.map(({ path }) => path)).toEqual([...LONG_FILES]);
});

test("docs/architecture.md shows the rooms of the table", () => {
  const { text } = readPage("docs/architecture.md");
  expect(text).toBe(withDrawing(text));
});
