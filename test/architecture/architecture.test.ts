import { expect, test } from "bun:test";
import { readPage } from "../docs/pages.ts";
import { BOUNDS, LINES_OF_A_FILE_MAX, LONG_FILES, PLAIN_CHAT_FILES_MAX } from "./bounds.ts";
import { findCircles } from "./circles.ts";
import { linesOf, sizesOf } from "./house.ts";
import { findMachineUses, NOT_SIMULATED } from "./machine-uses.ts";
import { withDrawing } from "./picture.ts";
import { readRequestPath } from "./request-path.ts";
import { ROOMS, roomOf } from "./rooms.ts";
import { readSources } from "./source-files.ts";

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

test("no files import each other in a circle, types included", () =>
  expect(findCircles(ownSources)).toEqual([]));

test("no page of the console imports another page", () => {
  const folderOf = (path: string) => /^console\/pages\/([^/]+)\//.exec(path)?.[1];
  const strays = sources
    .flatMap(({ path, imports }) => imports.map((target) => ({ path, target })))
    .filter(({ path, target }) => {
      const [from, to] = [folderOf(path), folderOf(target)];
      return from !== undefined && to !== undefined && from !== to;
    });
  expect(strays.map(({ path, target }) => `${path} -> ${target}`)).toEqual([]);
});

/** Prints code for customers, which reads their environment. */
const ENVIRONMENT_PRINTER = "clients/libraries.ts";

test("the environment is read by the configuration alone", () => {
  const readers = sources.filter(({ text }) => /\b(Bun|process|import\.meta)\.env\b/.test(text));
  const strays = readers.map(({ path }) => path).filter((path) => roomOf(path) !== "config");
  expect(strays.filter((path) => path !== ENVIRONMENT_PRINTER)).toEqual([]);
});

const machineUsers = findMachineUses(ownSources);
const isBelow = (path: string, listed: string) => path === listed || path.startsWith(`${listed}/`);

test("time and chance are taken from src/platform.ts, except where a list gives the reason", () => {
  const listed = Object.keys(NOT_SIMULATED);
  expect(machineUsers.filter((path) => !listed.some((each) => isBelow(path, each)))).toEqual([]);
  expect(listed.filter((each) => !machineUsers.some((path) => isBelow(path, each)))).toEqual([]);
});

test("no file has more than 250 lines without being listed with its reason", () => {
  const long = ownSources.filter(({ text }) => linesOf(text) > LINES_OF_A_FILE_MAX);
  expect(long.map(({ path }) => path)).toEqual(Object.keys(LONG_FILES).sort());
});

const sizes = sizesOf(ownSources);

test.each(Object.entries(BOUNDS))("src/%s has at most its bound of files and lines", (room, bound) => {
  const { files, lines } = sizes[room] ?? { files: 0, lines: 0 };
  expect(files).toBeLessThanOrEqual(bound.files);
  expect(lines).toBeLessThanOrEqual(bound.lines);
});

test("every room of folders has a bound, and no bound is a quarter above its room", () => {
  const rooms = Object.keys(ROOMS).filter((room) => room !== "gen" && !room.endsWith(".ts"));
  expect(Object.keys(BOUNDS).sort()).toEqual(rooms.sort());
  const loose = Object.entries(BOUNDS).filter(([room, bound]) => {
    const { files, lines } = sizes[room] ?? { files: 0, lines: 0 };
    return bound.files > files * 1.25 + 1 || bound.lines > lines * 1.25 + 50;
  });
  expect(loose.map(([room]) => room)).toEqual([]);
});

test("a plain chat request takes part in no more files than its bound", async () => {
  const files = await readRequestPath();
  expect(files.length).toBeLessThanOrEqual(PLAIN_CHAT_FILES_MAX);
  expect(files).toContain("gateway/run-request.ts");
});

test("docs/architecture.md shows the rooms of the table", () => {
  const { text } = readPage("docs/architecture.md");
  expect(text).toBe(withDrawing(text));
});
