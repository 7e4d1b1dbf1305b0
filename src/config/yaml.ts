import type { Problems } from "./problems.ts";

/** Lines up to which an error's line is looked for, because the search parses once per line. */
const SEARCHED_LINES_MAX = 2_000;

/** Parses one YAML document; `undefined` and a problem when it is none. Keys that occur twice are problems too. */
export function parseYaml(text: string, name: string, problems: Problems): unknown {
  try {
    const document: unknown = Bun.YAML.parse(text);
    reportDuplicates(text, problems);
    return document;
  } catch {
    const line = findBrokenLine(text.split("\n"));
    const place = line === undefined ? "" : ` from line ${line} on`;
    problems.add([name], `is not valid YAML${place}`, "one YAML document");
    return undefined;
  }
}

/** The parser names no line: what cannot be read begins after the longest part that can. */
function findBrokenLine(lines: readonly string[]): number | undefined {
  if (lines.length > SEARCHED_LINES_MAX) return undefined;
  for (let count = lines.length - 1; count > 0; count--) {
    if (canParse(lines.slice(0, count).join("\n"))) return skipBlank(lines, count) + 1;
  }
  return skipBlank(lines, 0) + 1;
}

function skipBlank(lines: readonly string[], from: number): number {
  const found = lines.findIndex((line, index) => index >= from && /^\s*[^\s#]/.test(line));
  return found === -1 ? from : found;
}

function canParse(text: string): boolean {
  try {
    Bun.YAML.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Ends a key that was made unique by what follows: its line and its place in it. */
const MARK = "\uE010";
const KEY =
  /(^\s*(?:- +)*|[{,]\s*)("[^"\n]*(?=")|'[^'\n]*(?=')|[^\s"'#&*!|>%@`{}[\],?:-][^"'#{}[\],:\n]*?)(["']?\s*:(?=\s|$))/g;

/** The parser keeps the last of equal keys, so they are told apart by their lines first. */
function reportDuplicates(text: string, problems: Problems): void {
  const marked = text
    .split("\n")
    .map((line, index) => markKeys(line, index + 1))
    .join("\n");
  if (canParse(marked)) walk(Bun.YAML.parse(marked), [], problems);
}

function markKeys(line: string, number: number): string {
  let place = 0;
  return line.replace(KEY, (_, before: string, key: string, after: string) => {
    place += 1;
    return `${before}${key}${MARK}${number}${MARK}${place}${after}`;
  });
}

function walk(node: unknown, path: readonly string[], problems: Problems): void {
  if (typeof node !== "object" || node === null) return;
  const seen = new Set<string>();
  for (const [marked, value] of Object.entries(node)) {
    const [key = "", line] = marked.split(MARK);
    const place = [...path, key];
    if (seen.has(key)) problems.add(place, `is there twice, again in line ${line}`, "every name once");
    seen.add(key);
    walk(value, place, problems);
  }
}
