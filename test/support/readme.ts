import { readFileSync } from "node:fs";
import { resolve } from "node:path";

export const REPOSITORY = resolve(import.meta.dir, "../..");

/** A fenced block as a reader would paste it. */
interface Snippet {
  readonly language: string;
  readonly text: string;
}

/** The parts of README.md that can be held to what they say. */
export interface Readme {
  readonly text: string;
  readonly snippets: readonly Snippet[];
  /** The one block with a text in it. Throws when there is none or more than one. */
  snippet(mark: string): Snippet;
  /** Cells of the table whose head begins with a text, without its head. Throws when there is none. */
  table(head: string): readonly (readonly string[])[];
}

export function readReadme(): Readme {
  const text = readFileSync(resolve(REPOSITORY, "README.md"), "utf8");
  const snippets = [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(
    ([, language = "", body = ""]): Snippet => ({ language, text: body }),
  );
  return {
    text,
    snippets,
    snippet(mark) {
      const [found, ...others] = snippets.filter((snippet) => snippet.text.includes(mark));
      if (!found || others.length > 0) throw new Error(`Cannot find one block with: ${mark}`);
      return found;
    },
    table(head) {
      const lines = text.split("\n");
      const start = lines.findIndex((line) => line.startsWith(`| ${head} |`));
      if (start < 0) throw new Error(`Cannot find a table with the head: ${head}`);
      const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
      return lines.slice(start + 2, end).map(readCells);
    },
  };
}

/** What a cell marks as code, without the marks. */
export function codesOf(cell = ""): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

function readCells(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}
