import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { scripts } from "../../package.json";
import { createProgram } from "../../src/cli/program.ts";
import { MIGRATIONS as POSTGRES_MIGRATIONS } from "../../src/db/postgres/migrate.ts";
import { MIGRATIONS as SQLITE_MIGRATIONS } from "../../src/db/sqlite/database.ts";
import { REPOSITORY, readPage, readPages } from "./pages.ts";

/** What it is, the first minute, how it compares, and the way to the other pages. */
const README_WORDS_MAX = 1_100;

test("the README has at most 1,100 words", () =>
  expect(readPage("README.md").text.split(/\s+/).length).toBeLessThanOrEqual(README_WORDS_MAX));

test("every link between pages leads to a file", () => {
  const dead = readPages().flatMap(({ path, text }) =>
    linksOf(text)
      .filter((target) => !existsSync(join(REPOSITORY, dirname(path), target)))
      .map((target) => `${path} -> ${target}`),
  );
  expect(dead).toEqual([]);
});

test("every path of a source file in the documentation exists", () => {
  const dead = readPages().flatMap(({ path, text }) =>
    [...text.matchAll(/`((?:src|test|proto)\/[\w./-]*\w\/?)`/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !existsSync(join(REPOSITORY, target)))
      .map((target) => `${path}: ${target}`),
  );
  expect(dead).toEqual([]);
});

test("every `bun run NAME` of the documentation is a script of package.json", () => {
  const named = readPages().flatMap(({ text }) => [...text.matchAll(/`bun run ([\w:]+)/g)]);
  const missing = named.map(([, name = ""]) => name).filter((name) => !(name in scripts));
  expect(missing).toEqual([]);
});

test("every `bun tollgate COMMAND` of the documentation is a command", () => {
  const commands = namesOf(createProgram());
  const named = readPages().flatMap(({ text }) => [
    ...text.matchAll(/bun tollgate ((?:[a-z]+(?:-[a-z]+)* ?)+)/g),
  ]);
  const unknown = named
    .map(([, words = ""]) => words.trim())
    .filter((words) => !commands.some((command) => words === command || words.startsWith(`${command} `)));
  expect(unknown).toEqual([]);
});

test("every page under docs/ is linked from the list of pages or of decisions", () => {
  const linked = ["README.md", "docs/README.md", "docs/adr/README.md"].flatMap((path) =>
    linksOf(readPage(path).text).map((target) => join(dirname(path), target)),
  );
  const pages = readPages().map(({ path }) => path);
  expect(pages.filter((path) => path !== "README.md" && !linked.includes(path))).toEqual([]);
});

/** Targets of the links to files of the repository, without anchors. */
function linksOf(text: string): string[] {
  return [...text.matchAll(/\]\(([^)#\s]+)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^https?:/.test(target));
}

/** Every command with its parents' names, as in "key create". */
function namesOf(command: Command): string[] {
  return command.commands.flatMap((each) =>
    each.commands.length > 0 ? namesOf(each).map((name) => `${each.name()} ${name}`) : [each.name()],
  );
}

test("the backup page names the schemas of this program", () => {
  const page = readPage("docs/backup.md").text;
  const schemas = `SQLite ${SQLITE_MIGRATIONS.length} and PostgreSQL ${POSTGRES_MIGRATIONS.length}`;
  expect(page).toContain(`The schema of this version is ${schemas}.`);
});
