/** A place in the configuration: keys and, for elements of lists, indexes. */
export type Path = readonly (string | number)[];

/** Maximum length of all problems together, in UTF-16 units: about a thousand problems. */
const LENGTH_MAX = 131_072;
/** Maximum length of a key in a path, in UTF-16 units. No valid name is longer. */
const KEY_LENGTH_MAX = 256;

/**
 * Collects problems. Keeps the first problem of a place, as later ones follow from it. Counts problems beyond
 * 128 Ki characters instead of keeping them.
 */
export interface Problems {
  add(path: Path, wrong: string, expected: string): void;
  list(): readonly string[];
}

/** The configuration cannot be used. Lists every problem. No problem contains the value of a variable. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** Each is "path: what is wrong, expected something else". */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

export function createProblems(): Problems {
  const byPlace = new Map<string, string>();
  let length = 0;
  let omitted = 0;

  function add(path: Path, wrong: string, expected: string): void {
    const place = formatPath(path);
    if (byPlace.has(place)) return;
    const problem = `${place}: ${wrong}, expected ${expected}`;
    if (byPlace.size > 0 && length + problem.length > LENGTH_MAX) {
      omitted += 1;
      return;
    }
    length += problem.length;
    byPlace.set(place, problem.slice(0, LENGTH_MAX));
  }

  return {
    add,
    list: () => [...byPlace.values(), ...(omitted > 0 ? [`and ${omitted} more problems`] : [])],
  };
}

/** Formats a path like member access in code: `models["gpt-4.1"].routes[0].upstream`. */
export function formatPath([first = "", ...rest]: Path): string {
  return shorten(String(first)) + rest.map(formatSegment).join("");
}

function formatSegment(segment: string | number): string {
  if (/^\d{1,9}$/.test(String(segment))) return `[${segment}]`;
  const name = shorten(String(segment));
  return /^[\w-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function shorten(key: string): string {
  return key.length > KEY_LENGTH_MAX ? `${key.slice(0, KEY_LENGTH_MAX)}…` : key;
}
