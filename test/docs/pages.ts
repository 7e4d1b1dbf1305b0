import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const REPOSITORY = resolve(import.meta.dir, "../..");

/** A fenced block, as a reader would paste it. */
interface Snippet {
  readonly language: string;
  readonly text: string;
}

/** One Markdown page of the documentation. */
export interface Page {
  /** Path from the repository's root, as in "docs/errors.md". */
  readonly path: string;
  readonly text: string;
  readonly snippets: readonly Snippet[];
  /** The one block that contains `mark`. Throws for none and for several. */
  snippet(mark: string): Snippet;
  /** Cells of the table whose first column is named `head`, without the header rows. Throws for none. */
  table(head: string): readonly (readonly string[])[];
}

/** Every Markdown page: those at the top level and those under docs/, sorted by path. */
export function readPages(): readonly Page[] {
  const top = readdirSync(REPOSITORY).filter((name) => name.endsWith(".md"));
  const docs = readdirSync(join(REPOSITORY, "docs"), { recursive: true, encoding: "utf8" });
  const below = docs.filter((name) => name.endsWith(".md")).map((name) => join("docs", name));
  return [...top, ...below].sort().map(readPage);
}

export function readPage(path: string): Page {
  const text = readFileSync(join(REPOSITORY, path), "utf8");
  const snippets = [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(
    ([, language = "", body = ""]): Snippet => ({ language, text: body }),
  );
  return {
    path,
    text,
    snippets,
    snippet(mark) {
      const [found, ...others] = snippets.filter((snippet) => snippet.text.includes(mark));
      if (!found || others.length > 0) throw new Error(`${path} needs exactly one block with: ${mark}`);
      return found;
    },
    table(head) {
      const lines = text.split("\n");
      const start = lines.findIndex((line) => line.startsWith(`| ${head} |`));
      if (start < 0) throw new Error(`${path} has no table with the head: ${head}`);
      const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
      return lines.slice(start + 2, end < 0 ? undefined : end).map(readCells);
    },
  };
}

/** The texts between backticks in a table cell. */
export function codesOf(cell = ""): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

function readCells(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}
