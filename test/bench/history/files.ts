import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { replaceBlock } from "../page-block.ts";
import { type KeptLine, printLine, readHistory } from "./line.ts";
import { printHistory } from "./table.ts";

const REPOSITORY = resolve(import.meta.dir, "../../..");
const KEPT_FILE = "docs/performance/history.jsonl";
/** Every run of this checkout. Git ignores the folder. */
const LOCAL_FILE = "reports/bench.jsonl";
/** Holds the table of the history. */
const HISTORY_PAGE = "docs/benchmarks.md";

/** Reads the committed history, oldest first. Throws for a line that is not of the history's shape. */
export function readKeptRuns(): readonly KeptLine[] {
  const path = join(REPOSITORY, KEPT_FILE);
  return existsSync(path) ? readHistory(readFileSync(path, "utf8"), KEPT_FILE) : [];
}

/** Appends a run to the local file. A kept run also goes to the committed file and into the table of the page. */
export function saveRun(line: KeptLine, isKept: boolean): void {
  append(LOCAL_FILE, line);
  if (!isKept) return;
  append(KEPT_FILE, line);
  updatePage(HISTORY_PAGE, "history", printHistory(readKeptRuns()));
}

/** Replaces a generated block of a page, named by its path in the repository. */
export function updatePage(page: string, block: string, content: string): void {
  const path = join(REPOSITORY, page);
  writeFileSync(path, replaceBlock(readFileSync(path, "utf8"), block, content));
}

function append(file: string, line: KeptLine): void {
  const path = join(REPOSITORY, file);
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, `${printLine(line)}\n`);
}
